"""The Pulumi provider of a stack's jobs, on this machine and on a cluster.

A plugin process that `pulumi` starts and asks to create, compare, read, change and delete the jobs
and services of this machine, and what gates and tells the jobs of a cluster.
"""
