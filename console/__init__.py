"""Views of what runs on this machine: `make watch` and `make logs`."""
