"""The contract of games, and their discovery, records and replay.

The engine is pure: it has no clock, no I/O, and no random numbers except those of `Rng`.
"""
