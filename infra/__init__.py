"""What a target stands on: this machine, or the cluster and the storage of a cloud."""
