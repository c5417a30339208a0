"""Slows down whoever guesses passwords: who may still try, from where, and since when.

Wrong passwords are counted over moving windows, for all processes together: for an account from
one source, for a network over all accounts, and, much higher, for an account from anywhere. A
full window closes that door for a while, which doubles each time. Userids that do not exist are
counted like any others, so nothing tells them apart.

A stranger cannot lock a player out: the source from which that player was right before has a
door of its own. Where a guesser cannot be told from the player at all (the same network, or one
that nobody knows, and the same forged envelope sender), that door is slow, but never shut for
long. Mails that prove their sender, and reply addresses, need no password and are not slowed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.strategies import MovingWindowRateLimiter

from pbmserv.clock import Clock
from pbmserv.mail.networks import Source
from pbmserv.service.limits.windows import Windows

PAIR = RateLimitItemPerMinute(5, 10, "pair")
"""Wrong passwords for one account from one source."""
NETWORK = RateLimitItemPerMinute(30, 10, "network")
"""Wrong passwords from one network, whatever the account."""
ACCOUNT = RateLimitItemPerHour(60, 1, "account")
"""Wrong passwords for one account from anywhere."""

FIRST_LOCK = timedelta(minutes=10)
LONGEST_LOCK = timedelta(hours=24)
LONGEST_SHARED = timedelta(hours=1)
"""Of a door that a player may have to share with the guesser: at most 120 guesses a day get
through it, so a password of five random letters holds for a century."""
FORGIVEN = timedelta(hours=24)
"""A door that was open for so long starts with `FIRST_LOCK` again."""


def _alone() -> None:
    """Nobody else counts."""


class Lockout:
    """Counts wrong passwords and says who may try one. Thread-safe.

    Args:
        windows: where they are counted.
        exchange: tells other processes, and learns from them; waits for the database.
    """

    def __init__(
        self,
        clock: Clock,
        windows: Windows | None = None,
        exchange: Callable[[], None] = _alone,
    ) -> None:
        self._clock = clock
        self._windows = windows or Windows(clock)
        self._limiter = MovingWindowRateLimiter(self._windows)
        self._exchange = exchange
        self._guard = threading.Lock()

    def catch_up(self) -> None:
        """Learn what other processes have counted, before a password is looked at.

        Raises:
            SQLAlchemyError: the database could not be asked.
        """
        self._exchange()

    def may_try(self, userid: str, source: Source) -> bool:
        """Whether a password for *userid* from *source* is to be looked at at all."""
        with self._guard:
            if self._closed(PAIR.key_for(userid, source.network, source.sender)):
                return False
            if self._is_usual(userid, source):
                return True
            return not (
                self._closed(NETWORK.key_for(source.neighbours))
                or self._closed(ACCOUNT.key_for(userid))
            )

    def wrong(self, userid: str, source: Source) -> None:
        """A password was looked at, and wrong; all processes know when this returns.

        Raises:
            SQLAlchemyError: the database could not be told yet.
        """
        pair = (userid, source.network, source.sender)
        longest = LONGEST_LOCK if source.network else LONGEST_SHARED
        doors = (
            (PAIR, LONGEST_SHARED if self._is_usual(userid, source) else longest, pair),
            (NETWORK, longest, (source.neighbours,)),
            (ACCOUNT, LONGEST_LOCK, (userid,)),
        )
        with self._guard:
            for limit, _, who in doors:
                self._limiter.hit(limit, *who)
        self._exchange()  # so that the last one of a full window closes it, whoever that is
        with self._guard:
            closed = [self._close_if_full(*door) for door in doors]
        if any(closed):
            self._exchange()

    def right(self, userid: str, source: Source) -> None:
        """A password was right: that account is open again from that source."""
        with self._guard:
            pair = PAIR.key_for(userid, source.network, source.sender)
            self._windows.clear(pair)
            self._windows.open(pair)
            self._windows.note_usual(_usual(userid, source))

    def _closed(self, door: str) -> bool:
        lock = self._windows.lock(door)
        return lock is not None and self._clock.now() < lock.until

    def _is_usual(self, userid: str, source: Source) -> bool:
        return self._windows.is_usual(_usual(userid, source))

    def _close_if_full(self, limit: RateLimitItem, longest: timedelta, who: Sequence[str]) -> bool:
        if self._limiter.test(limit, *who):
            return False
        door, now = limit.key_for(*who), self._clock.now()
        last = self._windows.lock(door)
        level = last.level + 1 if last is not None and now < last.until + FORGIVEN else 0
        span = min(FIRST_LOCK * 2 ** min(level, 20), longest)
        self._windows.close(door, now + span, level)
        self._windows.clear(door)
        return True


def _usual(userid: str, source: Source) -> str:
    return f"usual\0{userid}\0{source.network}\0{source.sender}"
