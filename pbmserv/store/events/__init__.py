"""Rows of events: their entries, draws, games, recurring entries and bars."""
