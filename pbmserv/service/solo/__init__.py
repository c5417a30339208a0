"""Races, solo boards and the box of the day."""
