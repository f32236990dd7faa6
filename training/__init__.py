"""From a job of the config to what runs it."""
