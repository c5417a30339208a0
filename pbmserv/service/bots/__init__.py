"""Moves of bots, and reports of the coach."""
