"""One machine, one command: what make run prepares and starts."""
