"""Which mails play carries out, where the supervisor can see them when play is stuck or dead."""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from time import monotonic, thread_time

from sqlalchemy import Connection

from pbmserv.service.core.results import Done

_LAYOUT = struct.Struct("=qd")
NONE = 0
THREADS = 16
"""Threads of play that can be seen: the one that reads mails, and those that write."""


class CurrentMail:
    """Numbers and since when, in memory that a forked child shares with its parent.

    Each thread has a place of its own, so that one that is stuck is seen beside others that are
    not.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _LAYOUT.size * THREADS)
        self._places = count()
        self._mine = threading.local()

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        """While that arrival is read or carried out by this thread."""
        at = self._place()
        _LAYOUT.pack_into(self._memory, at, number, monotonic())
        try:
            yield
        finally:
            _LAYOUT.pack_into(self._memory, at, NONE, 0.0)

    def clear(self) -> None:
        """Whoever carried something out has died."""
        for place in range(THREADS):
            _LAYOUT.pack_into(self._memory, place * _LAYOUT.size, NONE, 0.0)

    def all(self) -> list[int]:
        """Those that are in hand."""
        return [number for number, _ in self._look()]

    def longest(self) -> tuple[int, float]:
        """The arrival that has been in hand for longest and for how many seconds; `NONE`."""
        found = self._look()
        if not found:
            return NONE, 0.0
        number, since = min(found, key=lambda one: one[1])
        return number, monotonic() - since

    def _place(self) -> int:
        known: int | None = getattr(self._mine, "at", None)
        if known is None:
            known = self._mine.at = next(self._places) % THREADS * _LAYOUT.size
        return known

    def _look(self) -> list[tuple[int, float]]:
        return [one for one in _LAYOUT.iter_unpack(self._memory) if one[0] != NONE]


class Timed:
    """A job that tells which mail it is about while it runs, and what it took."""

    __slots__ = ("_current", "_job", "_number", "took_s")

    def __init__(
        self, job: Callable[[Connection], Done], current: CurrentMail, number: int
    ) -> None:
        self._job = job
        self._current = current
        self._number = number
        self.took_s = 0.0

    def __call__(self, connection: Connection) -> Done:
        begun = thread_time()
        try:
            with self._current.of(self._number):
                return self._job(connection)
        finally:
            self.took_s = thread_time() - begun
