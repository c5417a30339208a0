"""Boards and what is done on them."""
