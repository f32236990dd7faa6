"""Brings a bare machine to where `pulumi up` works: Python packages, pulumi, its backend.

Runs on the system's Python before `.venv` exists, so it imports the standard library alone.
"""
