"""Numbers, signs of life and states of a running process, for operators."""
