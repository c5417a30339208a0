"""Random numbers of a seed, the same as in Simon Tatham's program (``random.c``)."""

from __future__ import annotations

from hashlib import sha1

_BLOCK = 20
"""Length of a SHA-1 hash in bytes."""


class SeededNumbers:
    """A generator of integers. The same seed always gives the same integers."""

    def __init__(self, seed: bytes) -> None:
        first = _sha1(seed)
        self._counter = int.from_bytes(first, "little")
        self._tail = _sha1(first)
        self._left = iter(_sha1(first + self._tail))

    def below(self, limit: int) -> int:
        """Return an integer from 0 to *limit* - 1, each equally likely; *limit* is at least 1."""
        bits = limit.bit_length() + 3
        width = (1 << bits) // limit
        while (drawn := self._bits(bits)) >= limit * width:
            pass
        return drawn // width

    def _bits(self, count: int) -> int:
        drawn = 0
        for _ in range(0, count, 8):
            drawn = drawn << 8 | self._byte()
        return drawn & ((1 << count) - 1)

    def _byte(self) -> int:
        byte = next(self._left, None)
        if byte is None:
            self._counter = (self._counter + 1) % (1 << 8 * _BLOCK)
            self._left = iter(_sha1(self._counter.to_bytes(_BLOCK, "little") + self._tail))
            byte = next(self._left)
        return byte


def cells_from_seed(width: int, height: int, least: int, most: int, seed: bytes) -> tuple[int, ...]:
    """Return the cells of a box's atoms in the order in which they are drawn from a seed.

    Args:
        width, height: the size of the board.
        least, most: the range of the number of atoms; *most* is at most the number of cells.
        seed: any bytes.

    Returns:
        Different cells; see `geometry.Geometry`.
    """
    numbers = SeededNumbers(seed)
    count = least + (numbers.below(most - least + 1) if least < most else 0)
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        column = numbers.below(width)
        drawn[numbers.below(height) * width + column] = None
    return tuple(drawn)


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
