"""Decides what becomes of a letter after an attempt to make or deliver it, and logs that."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from pbmserv.errors import GameAway, RelayError, RelayPermanent, ServerFault
from pbmserv.outbound.log_lines import log_letter
from pbmserv.outbound.results import Failed, Later, Result, Sent, Untried
from pbmserv.store.delivery.letter_claims import ClaimedLetter, reason_to_wait

WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 120, 240))
"""Waits after the first, second … attempt; the last one repeats. They are short at first, for
greylisting, and long later (RFC 5321, 4.5.4.1)."""
LIFETIME = timedelta(days=5)
"""Age at which a letter is given up: "at least 4-5 days" (RFC 5321, 4.5.4.1)."""
GAME_WAIT = timedelta(minutes=2)
"""Time until a letter is tried again whose game cannot be played."""
_SPREAD = 0.2

_log = logging.getLogger("pbmserv.send")


def result_of_delivery(
    row: ClaimedLetter, error: Exception | None, now: datetime, jitter: float
) -> Result:
    """Return the result of a delivery.

    Args:
        error: `None` if the relay accepted the letter.
        jitter: see `delay`.
    """
    if error is None:
        log_letter(row, "sent", "")
        return Sent(row.id)
    if isinstance(error, RelayPermanent):
        log_letter(row, "refused", str(error))
        return Failed(row.id, str(error))
    why = str(error) if isinstance(error, RelayError) else type(error).__name__
    return _retry(row, why, now, jitter)


def result_of_making(
    row: ClaimedLetter,
    error: BaseException,
    now: datetime,
    jitter: float,
    game_of: Callable[[ClaimedLetter], str],
) -> Result:
    """Return the result of a letter that could not be made.

    Args:
        jitter: see `delay`.
        game_of: returns the key of the game of a letter's board, for the log.
    """
    if isinstance(error, GameAway):  # the letter waits, however long that takes
        return Untried(row.id, now + GAME_WAIT, reason_to_wait(error))
    if not row.attempts or isinstance(error, ServerFault):  # later attempts fail alike
        facts = {"letter": row.id, "kind": row.letter, "board": row.board_id, "game": game_of(row)}
        _log.error("a letter could not be made", exc_info=error, extra=facts)
    if isinstance(error, ServerFault):
        log_letter(row, "refused", "our fault")
        return Failed(row.id, f"our fault: {error}", was_made=False)
    # The next version may fix the bug, so the letter is kept.
    result = _retry(row, f"not made: {type(error).__name__}", now, jitter)
    return replace(result, was_made=False) if isinstance(result, Failed) else result


def _retry(row: ClaimedLetter, error: str, now: datetime, jitter: float) -> Later | Failed:
    """Return the result of a letter that is tried again, unless it is too old."""
    wait = delay(row.attempts + 1, now - row.created_at, jitter)
    if wait is None:
        log_letter(row, "refused", f"given up: {error}")
        return Failed(row.id, f"given up after {LIFETIME.days} days: {error}")
    log_letter(row, "waits", error, wait)
    return Later(row.id, now + wait, error)


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
