"""What an operator sees of a running process: log, numbers, threads."""
