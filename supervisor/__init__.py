"""Runs the processes of one job or service on this machine with the semantics of TFJob v1.

Only the standard library is used and little of it, so that a supervisor starts in a fraction of
a second. `supervisor.client` is what other parts of the project call.
"""
