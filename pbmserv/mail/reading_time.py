"""A limit on the processor time that the reading of one mail may take.

Every reader takes linear time, so this limit is for the mail that nobody has thought of. It is
looked at between lines and parts, never within one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time

LONGEST_S = 0.3
"""Seconds of processor time for one mail; the worst of those made to be slow take half of it."""


class ReadingTooLong(Exception):
    """The reading of a mail has taken all its time."""


_end: ContextVar[float] = ContextVar("end of the reading", default=math.inf)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the readers that run in this block, in this thread."""
    token = _end.set(thread_time() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


def check() -> None:
    """Stop if the time is over; to be called for each line or part, not for each character.

    Raises:
        ReadingTooLong: it is.
    """
    end = _end.get()
    if end != math.inf and thread_time() > end:
        raise ReadingTooLong
