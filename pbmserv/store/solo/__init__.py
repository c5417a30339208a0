"""Races, solo boards and the box of the day: tables and rows."""
