"""Reads single lines: words, names of commands, arguments and plain words."""
