"""Measures processor time: how it grows with the length of an argument, and limits for it."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import process_time, thread_time
from typing import Any

FLOOR_S = 0.0015
"""Seconds of processor time below which growth is not measured."""
SHORTER = 8
"""A text is compared with one that is this many times shorter. Linear growth multiplies the time by
8, quadratic growth by 64: far enough apart for a machine that is busy during one of the two."""
MOST_GROWTH = 22.0
PATIENCE_S = 0.2
"""Seconds of processor time after which a function is interrupted, if it may not take longer."""
_ROUNDS = 4


LOOP_S = 0.03
"""Seconds of processor time that `_loop` takes on the machine for which limits are written."""


def _loop() -> float:
    begun = process_time()
    sum(number * number for number in range(700_000))
    return process_time() - begun


def allowed(seconds: float) -> float:
    """Return a limit of processor time, which is higher on a slow or busy machine."""
    return seconds * max(1.0, min(_loop() for _ in range(3)) / LOOP_S)


class _TooLong(BaseException):
    """A function has not returned in time."""


@contextmanager
def patience() -> Iterator[None]:
    """Let `seconds` interrupt a function, which has to run in the main thread."""

    def interrupt(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


def seconds(
    ask: Callable[[Any], object], text: str | bytes, patience_s: float = PATIENCE_S
) -> float:
    """Return the processor time of a call; infinite if it was interrupted."""
    # The clock of the process becomes coarse while its timer runs; that of the thread does not.
    begun = thread_time()
    gc.disable()  # an interruption is lost in what the collector calls
    signal.setitimer(signal.ITIMER_VIRTUAL, patience_s)
    try:
        ask(text)
    except _TooLong:
        return inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()
    return thread_time() - begun


def steepness(
    ask: Callable[[Any], object],
    text: str | bytes,
    short: Callable[[], str | bytes],
    floor_s: float = FLOOR_S,
) -> str:
    """Describe how a call takes more than linear time; ``""`` if it does not.

    Args:
        text: the argument.
        short: returns an argument of the same kind that is `SHORTER` times shorter.
        floor_s: a call that takes less is quick enough, however its time grows.
    """
    took = seconds(ask, text)
    if took <= floor_s:
        return ""
    shorter = short()
    before = 0.0
    for _ in range(_ROUNDS):  # a busy machine is slow now and then, a slow function each time
        before = max(before, min(seconds(ask, shorter) for _ in range(2)))
        if before == inf:
            break
        most = max(floor_s, MOST_GROWTH * before)
        if took <= most:
            return ""
        patience_s = max(PATIENCE_S, 2 * most)
        took = min(took, *(seconds(ask, text, patience_s) for _ in range(2)))
        if took == inf:
            break
    return (
        f"{1000 * took:.0f} ms for {len(text)} characters like {text[:30]!r}, "
        f"{1000 * before:.1f} ms for {len(shorter)}"
    )
