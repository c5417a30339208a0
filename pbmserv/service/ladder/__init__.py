"""Ladders: challenges upwards, and places that their results move."""
