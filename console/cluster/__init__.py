"""A stack on a Kubernetes cluster, by what its API server says."""
