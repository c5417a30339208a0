"""Rows of ladders: places, challenges, movements and times at first place."""
