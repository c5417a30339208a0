"""The stack of a process that hangs or dies, so that its parent knows which game it was in.

A handler in C writes it, so that it also works while the process loops or sleeps in a library.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

SIGNAL = signal.SIGUSR2
"""Asks a process for its stack."""
PATIENCE_S = 3.0
"""Seconds that a process has to write its stack; on a busy machine its thread may have to wait."""
MOST_OCTETS = 200_000
"""Octets of a stack that are read."""

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


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
        """Make this process write its stack at `SIGNAL`, and when it dies of a fault.

        Each thread writes only its own stack. To read that of another thread, which keeps running,
        can crash the process before the stack is written.
        """
        faulthandler.enable(self._file, all_threads=False)
        faulthandler.register(SIGNAL, self._file, all_threads=False)

    def ask(self, pid: int, thread: int) -> None:
        """Ask a thread of a child for its stack, and wait for it.

        Args:
            thread: the number that the system gives the thread (`threading.get_native_id`).
        """
        # Linux prefers the thread that a signal names; elsewhere the main thread answers.
        os.kill(thread if Path(f"/proc/{pid}/task/{thread}").exists() else pid, SIGNAL)
        end = monotonic() + PATIENCE_S
        size = -1
        while monotonic() < end and (size <= 0 or size != self._size()):
            size = self._size()
            sleep(0.02)

    def clear(self) -> None:
        """Forget the stack."""
        self._file.truncate(0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)  # the child shares the position

    def frames(self) -> list[Frame]:
        """Return the calls of the stack, the newest first; an empty list if there is no stack."""
        text = os.pread(self._file.fileno(), MOST_OCTETS, 0).decode("utf-8", "replace")
        return [Frame(call[1], int(call[2]), call[3]) for call in _FRAME.finditer(text)]

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size
