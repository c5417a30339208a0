"""The stack of a process that hangs or dies, so that its parent knows which game it was in.

A handler in C writes it, so that it also works while the process loops or sleeps in a library.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep

SIGNAL = signal.SIGUSR2
"""Asks a process for its stack."""
PATIENCE_S = 0.5
"""Seconds that a process has to write it."""
MOST_OCTETS = 200_000

_THREAD = re.compile(r"^(Current thread|Thread) 0x([0-9a-f]+)")
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in a stack."""

    file: str
    line: int
    function: str


class StackFile:
    """A file without a name: a child writes its stack into it, and the parent reads it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - both processes keep it open

    def write_when_asked(self) -> None:
        """Make this process write its stack at `SIGNAL`, and when it dies of a fault."""
        faulthandler.enable(self._file, all_threads=True)
        faulthandler.register(SIGNAL, self._file, all_threads=True)

    def ask(self, pid: int) -> None:
        """Ask a child for its stack, and wait for it."""
        os.kill(pid, SIGNAL)
        end = monotonic() + PATIENCE_S
        size = -1
        while monotonic() < end and (size <= 0 or size != self._size()):
            size = self._size()
            sleep(0.02)

    def clear(self) -> None:
        """Forget the stack."""
        self._file.truncate(0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)  # the child shares the position

    def frames(self, thread: int | None) -> list[Frame]:
        """Return the calls of a thread, the newest first; an empty list if there is no stack.

        Args:
            thread: the identifier of the thread; `None` for the one in which the process died.
        """
        text = os.pread(self._file.fileno(), MOST_OCTETS, 0).decode("utf-8", "replace")
        return list(_frames_of(text, thread))

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size


def _frames_of(text: str, thread: int | None) -> Iterator[Frame]:
    is_wanted = False
    for line in text.splitlines():
        if head := _THREAD.match(line):
            is_wanted = (
                head[1] == "Current thread" if thread is None else int(head[2], 16) == thread
            )
        elif is_wanted and (frame := _FRAME.match(line)):
            yield Frame(frame[1], int(frame[2]), frame[3])
