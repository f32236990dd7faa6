"""Looks after the shared volume: a program of its own that runs in a pod of the cluster."""
