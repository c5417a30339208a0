"""The engine: what a game is, how games are found, recorded and replayed.

Pure: no clock, no I/O, no randomness but the `Rng` a game is handed.
"""
