"""The resources of a stack on a Kubernetes cluster that are ours: what gates, guards and tells."""
