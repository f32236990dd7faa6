"""`python -m runtime program.py [flags]`."""

from runtime.launch import main

main()
