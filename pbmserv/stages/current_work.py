"""The work in hand of a process, in memory that outlives the process.

The supervisor sees the work in which a process is stuck or with which it died, and a successor
sees the work over which its predecessors were killed.
"""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from itertools import count
from time import monotonic
from typing import TypeVar

from sqlalchemy import Connection

from pbmserv.store.core.writer import Writer

T = TypeVar("T")

# Native: each value is written at once, so that a reader sees the old or the new one.
_LAYOUT = struct.Struct("qdQ")
_TIMES = struct.Struct("=qq")
NONE = 0
OTHER = -(2**62)
"""The number of work that no number names: a clock of a board, or a move of a bot."""
MOST_STUCK = 64
PAUSE_S = 2.0
"""Seconds between two looks that show a pause of this process."""
THREADS = 16
"""Threads of a process that the supervisor can see."""


class Stuck:
    """Counts of the processes that were killed over each piece of work.

    The parent writes it, and all children of a kind read it. The oldest entry is dropped if there
    are more than `MOST_STUCK`.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _TIMES.size * MOST_STUCK)
        self._next = count()

    def note(self, number: int) -> None:
        """Count one more kill over a piece of work."""
        for place, (stored, times) in enumerate(_TIMES.iter_unpack(self._memory)):
            if stored == number:
                _TIMES.pack_into(self._memory, place * _TIMES.size, number, times + 1)
                return
        place = next(self._next) % MOST_STUCK
        _TIMES.pack_into(self._memory, place * _TIMES.size, number, 1)

    def times(self) -> Mapping[int, int]:
        """Return the number of kills by the number of the work."""
        return {number: times for number, times in _TIMES.iter_unpack(self._memory) if times}


class CurrentWork:
    """The numbers of the work in hand (arrivals, letters, boards), and when each began.

    A forked child shares the memory with its parent. Each thread has a place of its own, so that
    a stuck thread is seen beside others.

    Attributes:
        stuck: the kills of processes of this kind.
        killed_over: returns the number of kills by the number of the work.
    """

    def __init__(self, stuck: Stuck | None = None) -> None:
        self.stuck = stuck or Stuck()
        self.killed_over = self.stuck.times
        self._memory = mmap.mmap(-1, _LAYOUT.size * THREADS)
        self._places = count()
        self._mine = threading.local()

    def at(self, number: int) -> None:
        """Note what this thread begins; `NONE`: it has finished."""
        place: int | None = getattr(self._mine, "place", None)
        if place is None:
            place = self._mine.place = next(self._places) % THREADS * _LAYOUT.size
        begun = 0.0 if number == NONE else monotonic()
        _LAYOUT.pack_into(self._memory, place, number, begun, threading.get_ident())

    def clear(self) -> None:
        """Forget the work of a process that has died."""
        for place in range(THREADS):
            _LAYOUT.pack_into(self._memory, place * _LAYOUT.size, NONE, 0.0, 0)

    def all(self) -> list[int]:
        """Return the numbers of all work in hand."""
        return [number for number, _, _ in _LAYOUT.iter_unpack(self._memory) if number != NONE]

    def longest(self, not_before: float = 0.0) -> tuple[int, float]:
        """Return the work that has been in hand for longest, and for how many seconds.

        Args:
            not_before: seconds before this time (of `monotonic`) do not count.

        Returns:
            `NONE` and 0 if no work is in hand.
        """
        # The number of work that begins just now may be there before its time is.
        begun = [entry for entry in _LAYOUT.iter_unpack(self._memory) if NONE not in entry[:2]]
        if not begun:
            return NONE, 0.0
        number, since, _ = min(begun, key=lambda entry: entry[1])
        return number, monotonic() - max(since, not_before)

    def thread_of(self, number: int) -> int:
        """Return the identifier of the thread that has had a piece of work in hand for longest."""
        entries = [entry for entry in _LAYOUT.iter_unpack(self._memory) if entry[0] == number]
        return min(entries, key=lambda entry: entry[1])[2] if entries else 0


class WatchedWriter:
    """A writer whose jobs call rules of games, so that the supervisor sees a job that hangs."""

    def __init__(self, writer: Writer, current: CurrentWork) -> None:
        self._writer = writer
        self._current = current
        self.close = writer.close
        self.vitals = writer.vitals

    def submit(self, job: Callable[[Connection], T], number: int = OTHER) -> Future[T]:
        """Queue a job, see `Writer.submit`.

        Args:
            number: the number of the work.
        """
        return self._writer.submit(partial(self._run, job, number))

    def _run(self, job: Callable[[Connection], T], number: int, connection: Connection) -> T:
        self._current.at(number)
        try:
            return job(connection)
        finally:
            self._current.at(NONE)


class Pauses:
    """Notices that this process, and with it all others, stood still: a suspended laptop, a paused
    container. Work in hand has not taken long because of that."""

    def __init__(self) -> None:
        self._looked_at = self._over_at = monotonic()

    def look(self) -> float:
        """Return the end of the newest pause in seconds of `monotonic`; call it much more often
        than every `PAUSE_S`."""
        now = monotonic()
        if now - self._looked_at > PAUSE_S:
            self._over_at = now
        self._looked_at = now
        return self._over_at
