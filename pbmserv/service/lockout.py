"""Slows down whoever guesses passwords: who may still try, from where, and since when.

Wrong passwords are counted over moving windows, in this process's memory: for an account from
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
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.strategies import MovingWindowRateLimiter

from pbmserv.clock import Clock
from pbmserv.networks import Source
from pbmserv.service.windows import Windows, remember

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


@dataclass(frozen=True, slots=True)
class _Lock:
    """A door that is closed, or was; `level` counts how often in a row."""

    until: datetime
    level: int


class Lockout:
    """Counts wrong passwords and says who may try one. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._windows = Windows(clock)
        self._limiter = MovingWindowRateLimiter(self._windows)
        self._locks: OrderedDict[str, _Lock] = OrderedDict()
        self._usual: OrderedDict[tuple[str, Source], None] = OrderedDict()
        self._guard = threading.Lock()

    def may_try(self, userid: str, source: Source) -> bool:
        """Whether a password for *userid* from *source* is to be looked at at all."""
        with self._guard:
            if self._closed(PAIR.key_for(userid, source.network, source.sender)):
                return False
            if (userid, source) in self._usual:
                return True
            return not (
                self._closed(NETWORK.key_for(source.neighbours))
                or self._closed(ACCOUNT.key_for(userid))
            )

    def wrong(self, userid: str, source: Source) -> None:
        """A password was looked at, and wrong."""
        with self._guard:
            is_usual = (userid, source) in self._usual
            longest = LONGEST_LOCK if source.network else LONGEST_SHARED
            pair = (userid, source.network, source.sender)
            self._count(PAIR, LONGEST_SHARED if is_usual else longest, *pair)
            self._count(NETWORK, longest, source.neighbours)
            self._count(ACCOUNT, LONGEST_LOCK, userid)

    def right(self, userid: str, source: Source) -> None:
        """A password was right: that account is open again from that source."""
        with self._guard:
            pair = PAIR.key_for(userid, source.network, source.sender)
            self._windows.clear(pair)
            self._locks.pop(pair, None)
            remember(self._usual, (userid, source), None)

    def _closed(self, door: str) -> bool:
        lock = self._locks.get(door)
        return lock is not None and self._clock.now() < lock.until

    def _count(self, limit: RateLimitItem, longest: timedelta, *who: str) -> None:
        self._limiter.hit(limit, *who)
        if self._limiter.test(limit, *who):
            return
        door, now = limit.key_for(*who), self._clock.now()
        last = self._locks.get(door)
        level = last.level + 1 if last is not None and now < last.until + FORGIVEN else 0
        span = min(FIRST_LOCK * 2 ** min(level, 20), longest)
        remember(self._locks, door, _Lock(now + span, level))
        self._windows.clear(door)
