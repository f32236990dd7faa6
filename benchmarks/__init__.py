"""Measures what docs/benchmarks.md states: `make bench`, or `python -m benchmarks --help`.

Every time is compared with another one of the same run on the same machine, pair by pair, since
a time alone says more about the machine and its other users than about the project.
"""
