"""A Kubernetes of one node on this machine, for tests: the real programs, in namespaces of their
own.

Everything that runs there lives in one PID, one mount and one network namespace. So it ends with
its first process, however that ends, and its mounts, interfaces and firewall rules end with it:
what is left to take down are a network link, control groups and a folder.
"""
