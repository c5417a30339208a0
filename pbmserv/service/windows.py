"""Moving windows on our own clock, in this process's memory, for whatever is counted by time."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TypeVar

from limits.storage import Storage

from pbmserv.clock import Clock

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 20_000
"""Windows kept; the least recently used one goes first."""


class Windows(Storage):
    """Storage for `limits` on our own clock, bounded; the library's own knows only real time."""

    STORAGE_SCHEME = None

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._hits: OrderedDict[str, deque[float]] = OrderedDict()

    @property
    def base_exceptions(self) -> type[Exception]:
        """Nothing here fails but by a mistake of ours."""
        return RuntimeError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Note *amount* hits unless the window would overflow."""
        if self.get_moving_window(key, limit, expiry)[1] + amount > limit:
            return False
        self.incr(key, expiry, amount)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002 - the library's form
        """Since when, and how many."""
        now = self._clock.now().timestamp()
        hits = self._hits.get(key, deque())
        while hits and hits[0] <= now - expiry:
            hits.popleft()
        return (hits[0] if hits else now), len(hits)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:  # noqa: ARG002 - the library's form
        """Note hits in any case."""
        hits = self._hits.get(key, deque())
        hits.extend([self._clock.now().timestamp()] * amount)
        remember(self._hits, key, hits)
        return len(hits)

    def get(self, key: str) -> int:
        """How many hits are kept."""
        return len(self._hits.get(key, ()))

    def get_expiry(self, key: str) -> float:
        """The newest hit; after it, *expiry* later, the window is empty."""
        hits = self._hits.get(key)
        return hits[-1] if hits else self._clock.now().timestamp()

    def check(self) -> bool:
        """Memory is always there."""
        return True

    def reset(self) -> int:
        """Forget everything."""
        count = len(self._hits)
        self._hits.clear()
        return count

    def clear(self, key: str) -> None:
        """Forget one window."""
        self._hits.pop(key, None)


def remember(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Keep a value as the newest; the least recently used one goes when there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
