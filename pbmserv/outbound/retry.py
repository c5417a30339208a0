"""Decides when a letter that was not accepted is tried again."""

from __future__ import annotations

from datetime import timedelta

WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 120, 240))
"""Waits after the first, second … attempt; the last one repeats. They are short at first, for
greylisting, and long later (RFC 5321, 4.5.4.1)."""
LIFETIME = timedelta(days=5)
"""Age at which a letter is given up: "at least 4-5 days" (RFC 5321, 4.5.4.1)."""
_SPREAD = 0.2


def delay(attempt: int, age: timedelta, jitter: float) -> timedelta | None:
    """Return the wait before the next attempt, `None` if the letter is given up.

    Args:
        attempt: attempts so far, including the one that has just failed (≥ 1).
        age: time since the letter was queued.
        jitter: a random number, 0 ≤ jitter < 1. It spreads the wait by ±10 %, so that letters that
            failed together are not retried together.
    """
    if age >= LIFETIME:
        return None
    wait = WAITS[min(attempt, len(WAITS)) - 1]
    return wait * (1 + _SPREAD * (jitter - 0.5))
