"""The Pulumi provider of the local target.

A plugin process that `pulumi` starts and asks to create, compare, read, change and delete the jobs
and services of this machine.
"""
