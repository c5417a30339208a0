"""Rows of boxes that several players get, each on a board of their own."""
