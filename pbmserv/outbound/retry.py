"""Decides when a letter that was not accepted is tried again."""

from __future__ import annotations

from datetime import timedelta

#: Waits after the first, second … attempt; the last one repeats. Short at first for
#: greylisting, long later, as RFC 5321, 4.5.4.1 wants it.
WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 120, 240))
#: RFC 5321, 4.5.4.1: give up after "at least 4-5 days".
LIFETIME = timedelta(days=5)
_SPREAD = 0.2


def delay(attempt: int, age: timedelta, jitter: float) -> timedelta | None:
    """How long to wait before the next attempt.

    Args:
        attempt: attempts made so far, the one that just failed included (≥ 1).
        age: time since the letter was queued.
        jitter: 0 ≤ jitter < 1, drawn anew each time; spreads the wait by ±10 %,
            so that letters that failed together do not come back together.

    Returns:
        The wait, or None when the letter is five days old: it has failed.
    """
    if age >= LIFETIME:
        return None
    wait = WAITS[min(attempt, len(WAITS)) - 1]
    return wait * (1 + _SPREAD * (jitter - 0.5))
