"""The work in hand of a process, in memory that outlives the process.

The supervisor sees the work in which a process is stuck or with which it died, and a successor
sees the work over which its predecessors died.
"""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from time import monotonic

# A number, when it began, and the thread. Native: each value is written at once, so that a reader
# sees the old or the new one.
_WORK = struct.Struct("qdQ")
_COUNT = struct.Struct("=qq")  # a number, and the deaths over it
NONE = 0
"""The number of a thread that has nothing in hand."""
MOST_DEADLY = 64
"""Pieces of work whose deaths are counted."""
THREADS = 16
"""Threads of a process that the supervisor can see."""


class Deaths:
    """Counts of the processes of a stage that died over each piece of work.

    The parent writes them, and all processes of the stage read them. If there are more than
    `MOST_DEADLY`, the oldest are forgotten.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _COUNT.size * MOST_DEADLY)

    def by_work(self) -> dict[int, int]:
        """Return the number of deaths by the number of the work."""
        return {number: times for number, times in _COUNT.iter_unpack(self._memory) if times}

    def add(self, number: int) -> None:
        """Count one more death over a piece of work."""
        counts = self.by_work()
        counts[number] = counts.get(number, 0) + 1
        self.replace(counts)

    def replace(self, counts: Mapping[int, int]) -> None:
        """Replace all counts."""
        newest = list(counts.items())[-MOST_DEADLY:]
        octets = b"".join(_COUNT.pack(number, times) for number, times in newest)
        self._memory[:] = octets.ljust(len(self._memory), b"\0")


class CurrentWork:
    """The numbers of the work in hand (arrivals, letters, boards), and when each began.

    A forked child shares the memory with its parent. Each thread has an entry of its own, so that
    a stuck thread is seen beside others.

    Attributes:
        deaths: those of the processes of this stage.
    """

    def __init__(self, deaths: Deaths | None = None) -> None:
        self.deaths = deaths or Deaths()
        self._memory = mmap.mmap(-1, _WORK.size * THREADS)
        self._indexes = count()
        self._mine = threading.local()

    @contextmanager
    def doing(self, number: int) -> Iterator[None]:
        """Show that this thread works on *number* inside a ``with`` block."""
        self.begin(number)
        try:
            yield
        finally:
            self._show(NONE, 0.0)

    def begin(self, number: int) -> None:
        """Show that this thread works on *number* from now on."""
        self._show(number, monotonic())

    def _show(self, number: int, begun: float) -> None:
        offset: int | None = getattr(self._mine, "offset", None)
        if offset is None:
            offset = self._mine.offset = next(self._indexes) % THREADS * _WORK.size
        _WORK.pack_into(self._memory, offset, number, begun, threading.get_native_id())

    def killed_over(self) -> Mapping[int, int]:
        """Return how often processes of this stage were killed over their work, or in play died
        with it, by its number."""
        return self.deaths.by_work()

    def clear(self) -> None:
        """Forget the work of a process that has died."""
        for index in range(THREADS):
            _WORK.pack_into(self._memory, index * _WORK.size, NONE, 0.0, 0)

    def all(self) -> list[int]:
        """Return the numbers of all work in hand."""
        return [number for number, _, _ in _WORK.iter_unpack(self._memory) if number != NONE]

    def longest(self, not_before: float = 0.0) -> tuple[int, float]:
        """Return the work that has been in hand for longest, and for how many seconds.

        Args:
            not_before: seconds before this time (of `monotonic`) do not count.

        Returns:
            `NONE` and 0 if no work is in hand.
        """
        # The number of work that begins just now may be there before its time is.
        entries = [
            (since, number)
            for number, since, _ in _WORK.iter_unpack(self._memory)
            if number != NONE and since
        ]
        if not entries:
            return NONE, 0.0
        since, number = min(entries)
        return number, monotonic() - max(since, not_before)

    def thread_of(self, number: int) -> int:
        """Return the thread that has had a piece of work in hand for longest, by its native id."""
        entries = [entry for entry in _WORK.iter_unpack(self._memory) if entry[0] == number]
        return min(entries, key=lambda entry: entry[1])[2] if entries else 0


def blamed(deaths: Mapping[int, int], in_hand: Sequence[int]) -> dict[int, int]:
    """Return how often play has died with each arrival, after it died with these in hand.

    If play dies with a single arrival for the second time, then the arrivals that were beside it
    the first time are cleared.
    """
    counts = dict(deaths)
    for number in in_hand:
        counts[number] = counts.get(number, 0) + 1
    if len(in_hand) == 1 and counts[in_hand[0]] > 1:
        return {number: times for number, times in counts.items() if times > 1}
    return counts
