"""The work of a process, in memory that outlives it.

The supervisor sees the work in which a process is stuck or with which it died, and a successor
sees the work over which its predecessors were killed.
"""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Mapping
from itertools import count
from time import monotonic

# Native: each value is written at once, so that who looks meanwhile sees the old or the new one.
_LAYOUT = struct.Struct("qd")
_TIMES = struct.Struct("=qq")
NONE = 0
MOST_STUCK = 64
PAUSE_S = 2.0
"""Seconds between two looks after which there was a pause."""
THREADS = 16
"""Threads of a process that can be seen: in play the one that reads mails, and those that write."""


class Stuck:
    """Numbers of work that processes were killed over, and how often: written by the parent, read
    by all children of a kind. The oldest goes when there are too many."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _TIMES.size * MOST_STUCK)
        self._next = count()

    def note(self, number: int) -> None:
        """Once more."""
        for place, (known, times) in enumerate(_TIMES.iter_unpack(self._memory)):
            if known == number:
                _TIMES.pack_into(self._memory, place * _TIMES.size, number, times + 1)
                return
        place = next(self._next) % MOST_STUCK
        _TIMES.pack_into(self._memory, place * _TIMES.size, number, 1)

    def times(self) -> Mapping[int, int]:
        """How often, by number."""
        return {number: times for number, times in _TIMES.iter_unpack(self._memory) if times}


class CurrentWork:
    """Numbers (of arrivals, letters, boards) and since when, in memory that a forked child shares
    with its parent.

    Each thread has a place of its own, so that one that is stuck is seen beside others that are
    not.

    Attributes:
        stuck: what processes of this kind were killed over.
        killed_over: how often one was, by number.
    """

    def __init__(self, stuck: Stuck | None = None) -> None:
        self.stuck = stuck or Stuck()
        self.killed_over = self.stuck.times
        self._memory = mmap.mmap(-1, _LAYOUT.size * THREADS)
        self._places = count()
        self._mine = threading.local()

    def at(self, number: int) -> None:
        """From now on this thread is at it; `NONE`: at nothing."""
        place: int | None = getattr(self._mine, "place", None)
        if place is None:
            place = self._mine.place = next(self._places) % THREADS * _LAYOUT.size
        _LAYOUT.pack_into(self._memory, place, number, 0.0 if number == NONE else monotonic())

    def clear(self) -> None:
        """Whoever carried something out has died."""
        for place in range(THREADS):
            _LAYOUT.pack_into(self._memory, place * _LAYOUT.size, NONE, 0.0)

    def all(self) -> list[int]:
        """Those that are in hand."""
        return [number for number, _ in _LAYOUT.iter_unpack(self._memory) if number != NONE]

    def longest(self, not_before: float = 0.0) -> tuple[int, float]:
        """The work that has been in hand for longest and for how many seconds; `NONE`.

        Args:
            not_before: seconds before that (of `monotonic`) do not count.
        """
        # Of work that begins just now the number may stand there, and its time not yet.
        found = [one for one in _LAYOUT.iter_unpack(self._memory) if NONE not in one]
        if not found:
            return NONE, 0.0
        number, since = min(found, key=lambda one: one[1])
        return number, monotonic() - max(since, not_before)


class Pauses:
    """Notices that this process stood still, and all others with it: a suspended laptop, a paused
    container. No work has taken long because of that."""

    def __init__(self) -> None:
        self._looked_at = self._over_at = monotonic()

    def look(self) -> float:
        """When the newest pause was over, in seconds of `monotonic`; ask much more often than every
        `PAUSE_S`."""
        now = monotonic()
        if now - self._looked_at > PAUSE_S:
            self._over_at = now
        self._looked_at = now
        return self._over_at
