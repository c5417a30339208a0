"""Stops rules that do not return, as the server stops them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

LIMIT_S = 15.0
"""Processor seconds after which the server stops rules."""

_CHECKS = Path(__file__).parent
"""The folder of the modules that call the rules."""

_LOOKS = 15
"""Looks at the stack in this time."""


class EndlessError(BaseException):
    """A call of the rules did not return. Code of a game that catches `Exception` does not catch
    it."""


@contextmanager
def endless_calls_stopped(file: str) -> Iterator[None]:
    """Raise `EndlessError` in a call of a file's functions that takes longer than `LIMIT_S`.

    A timer looks at the stack; a call is too long if its frame is there at each look. Only the main
    thread can have a timer, so in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last: FrameType | None = None
    seen = 0

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal last, seen
        outermost = _outermost(frame, file)
        seen = seen + 1 if outermost is not None and outermost is last else 1
        last = outermost
        if outermost is not None and seen > _LOOKS:
            last, seen = None, 0
            raise EndlessError(f"has not ended after {LIMIT_S:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S / _LOOKS, LIMIT_S / _LOOKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _outermost(frame: FrameType | None, file: str) -> FrameType | None:
    """Return the frame of a file's function that the checks have called, `None` if there is none.

    Functions of the same file may have called the checks, if it is that of a test.
    """
    outermost = None
    while frame is not None and not is_of_checks(frame.f_code.co_filename):
        if frame.f_code.co_filename == file:
            outermost = frame
        frame = frame.f_back
    return outermost


def is_of_checks(file: str) -> bool:
    """Return whether a file is a module of this package, which calls the rules."""
    return Path(file).parent == _CHECKS
