"""Bots that play Blackbox, the coach, and hints.

They get the view of a seat, like a player. They are pure functions without tables of layouts, so
that the same code plays boards of all sizes.
"""
