"""Which letters wait: those that were not taken, all while a relay is down, and those to a domain
that has enough under way or wants to be left alone.

One slow or offended domain must not hold up the letters to all others: only so many threads are
on letters to it, and after a "too many" its letters wait together (RFC 5321 section 4.5.4.1).
"""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta

#: Waits after the first, second … attempt; the last one repeats. Short at first for
#: greylisting, long later, as RFC 5321, 4.5.4.1 wants it.
WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 120, 240))
#: RFC 5321, 4.5.4.1: give up after "at least 4-5 days".
LIFETIME = timedelta(days=5)
_SPREAD = 0.2
SHORTEST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)


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


#: Failures in a row, over all threads, that open the breaker.
FAILURES = 5
SHORTEST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=15)


class Breaker:
    """A circuit breaker; shared by the threads that use one relay.

    Closed: letters flow. Open: none goes out before the pause is over. Then one
    letter at a time is let through as a trial; if it gets an answer the breaker
    closes, else the next pause is twice as long.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._trials = 0
        self._until: datetime | None = None

    def allowance(self, now: datetime, most: int) -> int:
        """How many letters may be tried now: 0, 1 (a trial) or *most*.

        Granting a trial begins the next pause at once, so that two threads
        never try together.
        """
        with self._lock:
            if self._until is None:
                return most
            if now < self._until:
                return 0
            self._trials += 1
            self._until = now + self._pause()
            return 1

    def next_trial(self) -> datetime | None:
        """When the next trial may be, ``None`` while letters flow."""
        with self._lock:
            return self._until

    @property
    def failures(self) -> int:
        """Attempts in a row in which the relay could not be reached."""
        with self._lock:
            return self._failures

    def untried(self, now: datetime) -> None:
        """No letter was there for the trial: the next one may have it at once."""
        with self._lock:
            if self._until is not None:
                self._trials -= 1
                self._until = now

    def answered(self) -> bool:
        """The relay answered, if only to refuse a letter; whether that ended a pause."""
        with self._lock:
            was_open = self._until is not None
            self._failures = self._trials = 0
            self._until = None
            return was_open

    def failed(self, now: datetime) -> bool:
        """The relay could not be reached; whether that began a pause."""
        with self._lock:
            self._failures += 1
            if self._until is None and self._failures >= FAILURES:
                self._until = now + self._pause()
                return True
            return False

    def _pause(self) -> timedelta:
        # Ten doublings are past the longest pause; a long outage must not overflow.
        return min(SHORTEST_PAUSE * (1 << min(self._trials, 10)), LONGEST_PAUSE)


def domain_of(recipient: str) -> str:
    """The domain of an address, in lower case."""
    return recipient.rpartition("@")[2].lower()


class Domains:
    """Shared by the threads of one sender.

    Args:
        most: letters that may be under way to one domain at a time; 0 = any number.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._rests: dict[str, tuple[datetime, int]] = {}

    def closed(self, now: datetime) -> frozenset[str]:
        """Domains to which nothing can go now."""
        with self._lock:
            full = {d for d, count in self._busy.items() if self._most and count >= self._most}
            return frozenset(full | {d for d, (until, _) in self._rests.items() if now < until})

    def next_opening(self, now: datetime) -> datetime | None:
        """When the next rest ends; ``None`` if nobody rests."""
        with self._lock:
            return min((until for until, _ in self._rests.values() if until > now), default=None)

    def enter(self, domain: str, now: datetime) -> datetime | None:
        """Begin a letter; else when to try again. Whoever may begin must `leave`."""
        with self._lock:
            until, _ = self._rests.get(domain, (now, 0))
            if now < until:
                return until
            if self._most and self._busy[domain] >= self._most:
                return now
            self._busy[domain] += 1
            return None

    def leave(self, domain: str) -> bool:
        """A letter is done; whether others had to wait for that."""
        with self._lock:
            was_full = bool(self._most) and self._busy[domain] >= self._most
            self._busy[domain] -= 1
            if not self._busy[domain]:
                del self._busy[domain]
            return was_full

    def rest(self, domain: str, now: datetime) -> datetime:
        """The domain wants fewer letters; until when it gets none, each time twice as long."""
        with self._lock:
            _, times = self._rests.get(domain, (now, 0))
            until = now + min(SHORTEST_REST * (1 << min(times, 10)), LONGEST_REST)
            self._rests[domain] = (until, times + 1)
            return until

    def took(self, domain: str) -> None:
        """The domain has taken a letter: the next rest is short again."""
        with self._lock:
            self._rests.pop(domain, None)
