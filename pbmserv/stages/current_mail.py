"""Which mail play is carrying out, where the supervisor can see it when play is stuck or dead."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from time import monotonic, thread_time

from sqlalchemy import Connection

from pbmserv.service.core.results import Done

_LAYOUT = struct.Struct("=qd")
NONE = 0


class CurrentMail:
    """A number and since when, in memory that a forked child shares with its parent."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _LAYOUT.size)

    def begins(self, number: int) -> None:
        """That arrival is being carried out."""
        _LAYOUT.pack_into(self._memory, 0, number, monotonic())

    def ends(self) -> None:
        """None is."""
        _LAYOUT.pack_into(self._memory, 0, NONE, 0.0)

    def look(self) -> tuple[int, float]:
        """The arrival that is being carried out and for how many seconds; `NONE` = none is."""
        number, since = _LAYOUT.unpack_from(self._memory, 0)
        return int(number), monotonic() - since if number else 0.0


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
        self._current.begins(self._number)
        try:
            return self._job(connection)
        finally:
            self._current.ends()
            self.took_s = thread_time() - begun
