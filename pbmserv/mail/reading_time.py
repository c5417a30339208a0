"""Limits the processor time for reading one mail.

Reading takes linear time; the limit is for mails that nobody foresaw. It is checked between
lines and parts, never within one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time

LONGEST_S = 0.3
"""Seconds of processor time for one mail; the slowest mails of the tests take half of it."""


class ReadingTooLong(Exception):
    """A mail that takes too long to read."""


_end: ContextVar[float] = ContextVar("end of the reading", default=math.inf)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the reading of mails in this block, in this thread."""
    token = _end.set(thread_time() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


def check() -> None:
    """Check the limit. To be called for each line or part, not for each character.

    Raises:
        ReadingTooLong: the time is over.
    """
    end = _end.get()
    if end != math.inf and thread_time() > end:
        raise ReadingTooLong
