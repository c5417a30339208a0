"""Randomness that replays: a counter over SHA-256.

A board's seed and the number of a ply give the same draws on every platform
and in every version, so a record replays to the same position forever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """Draws for one ply of one board.

    Block *i* is ``SHA-256(seed ‖ 0x00 ‖ ply ‖ i)`` with ply and i as 8-byte
    big-endian integers; its bytes are consumed in order.
    """

    __slots__ = ("_block", "_buffer", "_prefix")

    def __init__(self, seed: bytes, ply: int) -> None:
        self._prefix = seed + b"\0" + ply.to_bytes(8, "big")
        self._block = 0
        self._buffer = b""

    def bytes(self, count: int) -> bytes:
        """The next *count* bytes of the stream."""
        while len(self._buffer) < count:
            block = self._prefix + self._block.to_bytes(8, "big")
            self._buffer += hashlib.sha256(block).digest()
            self._block += 1
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def below(self, limit: int) -> int:
        """A number in ``range(limit)``, every one equally likely.

        Raises:
            ValueError: *limit* is less than 1.
        """
        if limit < 1:
            raise ValueError("limit must be at least 1")
        bits = (limit - 1).bit_length()
        width = (bits + 7) // 8
        mask = (1 << bits) - 1
        while True:  # rejection sampling: no modulo bias
            drawn = int.from_bytes(self.bytes(width), "big") & mask
            if drawn < limit:
                return drawn

    def choice(self, items: Sequence[T]) -> T:
        """One of *items*."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """*count* different places of *items*, in the order drawn.

        Raises:
            ValueError: there are fewer than *count*.
        """
        if count > len(items):
            raise ValueError("sample larger than the population")
        pool = list(items)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]
