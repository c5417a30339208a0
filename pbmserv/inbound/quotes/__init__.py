"""Tells what the writer of a reply wrote from what the reply quotes."""
