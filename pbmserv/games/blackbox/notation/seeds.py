"""The box that a random seed stands for, drawn exactly as Simon Tatham's program draws it.

Source: his ``random.c`` and ``blackbox.c``. The numbers come from SHA-1 in counter mode; that is
a way to agree on a box, not a way to keep one secret.
"""

from __future__ import annotations

from hashlib import sha1

_BLOCK = 20
"""Length of a SHA-1 hash in bytes."""


class SeededNumbers:
    """Whole numbers from a text: the same text gives the same numbers for ever."""

    def __init__(self, seed: bytes) -> None:
        first = _hash(seed)
        self._counter = int.from_bytes(first, "little")
        self._tail = _hash(first)
        self._left = iter(_hash(first + self._tail))

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1, each as likely; *limit* is at least 1."""
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
            self._left = iter(_hash(self._counter.to_bytes(_BLOCK, "little") + self._tail))
            byte = next(self._left)
        return byte


def cells_from_seed(width: int, height: int, least: int, most: int, seed: bytes) -> tuple[int, ...]:
    """The atoms of a seed in the order in which they were drawn.

    Args:
        width, height: of the board.
        least, most: how many atoms there may be; *most* is at most the number of cells.
        seed: any bytes.

    Returns:
        Cells as `geometry.Geometry` counts them, all different.
    """
    numbers = SeededNumbers(seed)
    count = least + (numbers.below(most - least + 1) if least < most else 0)
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        column = numbers.below(width)
        drawn[numbers.below(height) * width + column] = None
    return tuple(drawn)


def _hash(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
