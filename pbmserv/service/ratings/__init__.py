"""Ratings of players: computed, shown, rebuilt."""
