"""Rows of players and their accounts."""
