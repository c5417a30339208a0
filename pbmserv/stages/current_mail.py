"""Which mail play is carrying out, where the supervisor can see it when play is stuck or dead."""

from __future__ import annotations

import mmap
import struct
from time import monotonic

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
