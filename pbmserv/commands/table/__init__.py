"""The table of commands: a row each, and the values that they are read into."""
