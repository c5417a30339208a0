"""The table of commands, and the types of commands and rows."""
