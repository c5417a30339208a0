"""How much goes to one recipient domain at a time, and which ones want to be left alone.

One slow or offended domain must not hold up the letters to all others: only so many threads are
on letters to it, and after a "too many" its letters wait together (RFC 5321 section 4.5.4.1).
"""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta

SHORTEST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)


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
