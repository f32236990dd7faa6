"""Reads a Kubernetes cluster: whether it is there, and how a training job on it fares.

One module talks to the API server, one asks it about a job; everything else is pure.
"""
