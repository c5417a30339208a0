"""Bots that play Blackbox: what still fits their results, and which move follows from that.

A bot is handed what its seat may see, like everybody else. Pure, and no table of layouts is kept,
so every size of board is played by the same few hundred lines.
"""
