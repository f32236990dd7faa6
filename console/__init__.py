"""Views of what runs, on this machine or on a cluster: `make watch`, `make logs`, `make
tensorboard`."""
