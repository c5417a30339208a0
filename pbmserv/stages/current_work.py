"""What a process has in hand, in memory that outlives it: the supervisor sees what it is stuck in
or died with, and a successor what its predecessor was stuck in and had claimed."""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Iterable, Mapping
from itertools import count
from time import monotonic

# Native: each value is written at once, so that who looks meanwhile sees the old or the new one.
_LAYOUT = struct.Struct("qd")
_NUMBER = struct.Struct("=q")
_TIMES = struct.Struct("=qq")
NONE = 0
MOST_STUCK = 64
CLAIMS = 1024
"""More than any process claims at a time; what does not fit waits for the end of its lease."""
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


class Claims:
    """Numbers of rows that a process has claimed, and those that it left behind when it died."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * CLAIMS)
        self._guard = threading.Lock()
        self._places: dict[int, int | None] = {}
        self._free: list[int] = []

    def left(self) -> list[int]:
        """What stands there; ask before this process claims anything."""
        return [number for (number,) in _NUMBER.iter_unpack(self._memory) if number != NONE]

    def begin(self) -> None:
        """From now on it tells of this process, which has claimed nothing."""
        with self._guard:
            self._memory[:] = bytes(len(self._memory))
            self._places.clear()
            self._free = list(range(CLAIMS))

    def add(self, numbers: Iterable[int]) -> None:
        """These are claimed."""
        with self._guard:
            for number in numbers:
                if number not in self._places:
                    self._places[number] = place = self._free.pop() if self._free else None
                    if place is not None:
                        _NUMBER.pack_into(self._memory, place * 8, number)

    def all(self) -> list[int]:
        """Those of this process that are not settled."""
        with self._guard:
            return sorted(self._places)

    def remove(self, numbers: Iterable[int]) -> None:
        """These are settled."""
        with self._guard:
            for number in numbers:
                place = self._places.pop(number, None)
                if place is not None:
                    _NUMBER.pack_into(self._memory, place * 8, NONE)
                    self._free.append(place)
