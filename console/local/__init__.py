"""A stack on this machine, by the files of its supervisors."""
