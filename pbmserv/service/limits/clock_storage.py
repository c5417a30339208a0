"""Storage for the `limits` library that goes by the server's own clock and stays bounded.

The library's `MemoryStorage` reads the machine's clock, which tests and a simulated year cannot
move, keeps every key until its hits expire, and starts a thread.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from typing import TypeVar

from limits.storage import MovingWindowSupport, Storage

from pbmserv.clock import Clock

K = TypeVar("K")
V = TypeVar("V")

MOST_KEYS = 20_000
"""Windows that are kept; the least recently used one is dropped first."""

_ONLY_MOVING = "these are moving windows, not fixed ones"


class ClockStorage(Storage, MovingWindowSupport):
    """Moving windows in the memory of one process. Callers serialize their calls."""

    STORAGE_SCHEME = None  # it is made here, never by a URL

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._hits: OrderedDict[str, array[float]] = OrderedDict()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count *amount* hits unless the window would overflow; return whether they were counted.

        Args:
            limit: hits that the window may hold.
            expiry: length of the window in seconds.
        """
        hits = self._current_hits(key, expiry)
        if len(hits) + amount > limit:
            return False
        hits.extend([self._now()] * amount)
        keep_newest(self._hits, key, hits)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002
        """Return the time of the oldest hit in the window, or now, and the number of hits."""
        hits = self._current_hits(key, expiry)
        return (hits[0] if hits else self._now()), len(hits)

    def check(self) -> bool:
        return True

    def clear(self, key: str) -> None:
        self._hits.pop(key, None)

    def reset(self) -> int:
        count = len(self._hits)
        self._hits.clear()
        return count

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        return ()

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError(_ONLY_MOVING)

    def get(self, key: str) -> int:
        raise NotImplementedError(_ONLY_MOVING)

    def get_expiry(self, key: str) -> float:
        raise NotImplementedError(_ONLY_MOVING)

    def _current_hits(self, key: str, expiry: int) -> array[float]:
        """Return the hits of a window, oldest first, after dropping those that expired."""
        hits = self._hits.get(key)
        if hits is None:
            return array("d")
        del hits[: bisect_right(hits, self._now() - expiry)]
        return hits

    def _now(self) -> float:
        return self._clock.now().timestamp()


def keep_newest(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Store a value as the most recently used one; drop the oldest ones beyond `MOST_KEYS`."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST_KEYS:
        kept.popitem(last=False)
