"""The house as a player of Blackbox: what still fits its results, and which move follows from that.

It is handed what its seat may see, like everybody else. Pure, and no table of layouts is kept, so
every size of board is played by the same few hundred lines.
"""
