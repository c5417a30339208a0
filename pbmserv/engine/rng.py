"""Random numbers of a board, the same on all platforms."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Rng:
    """Random numbers for one ply of a board, from a counter over SHA-256.

    The seed of a board and the number of a ply give the same numbers on all platforms and in all
    versions, so that a record always replays to the same position.
    Block *i* is ``SHA-256(seed ‖ 0x00 ‖ ply ‖ i)`` with ply and i as 8-byte
    big-endian integers; its bytes are consumed in order.
    """

    seed: bytes = field(repr=False)
    ply: int
    _block: int = 0
    _buffer: bytes = field(default=b"", repr=False)

    @property
    def is_used(self) -> bool:
        """Whether any number was drawn."""
        return self._block > 0

    def bytes(self, count: int) -> bytes:
        """Return the next *count* bytes of the stream."""
        while len(self._buffer) < count:
            numbers = self.ply.to_bytes(8, "big") + self._block.to_bytes(8, "big")
            self._buffer += hashlib.sha256(self.seed + b"\0" + numbers).digest()
            self._block += 1
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def below(self, limit: int) -> int:
        """Return an integer in ``range(limit)``, each equally likely.

        Raises:
            ValueError: *limit* is less than 1.
        """
        if limit < 1:
            raise ValueError("limit must be at least 1")
        bits = (limit - 1).bit_length()
        width = (bits + 7) // 8
        mask = (1 << bits) - 1
        while True:  # rejection sampling avoids the bias of a modulo
            drawn = int.from_bytes(self.bytes(width), "big") & mask
            if drawn < limit:
                return drawn

    def choice(self, items: Sequence[T]) -> T:
        """Return one of *items*, each equally likely."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return *count* of *items* in random order, each at most once.

        Raises:
            ValueError: there are fewer items.
        """
        if count > len(items):
            raise ValueError("sample larger than the population")
        pool = list(items)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]
