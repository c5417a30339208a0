"""What the threads of one sender leave to each other: one makes letters at a time, and so many of
them go to a recipient domain at once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic

TURN_S = 0.5
"""So long a thread works alone before the next begins beside it: one is enough for a processor and
a relay that answers, and two would only take turns away from each other."""
SHORTEST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)
CROWDED = timedelta(seconds=30)
"""So long after a letter had to be given back for it, a domain's letters are claimed by no more
threads than may send to it."""


class Turn:
    """Who makes letters: a Python process has one processor."""

    def __init__(self) -> None:
        self._holder: object = None
        self._begun = 0.0
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, stopping: threading.Event) -> Iterator[None]:
        """Wait until nobody has the turn, or whoever has it seems to wait for a slow relay."""
        with self._changed:
            while self._holder is not None and not stopping.is_set():
                left = self._begun + TURN_S - monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            mine = self._holder = object()
            self._begun = monotonic()
        try:
            yield
        finally:
            with self._changed:
                if self._holder is mine:
                    self._holder = None
                    self._changed.notify()


class Domains:
    """How much goes to each recipient domain at once, and which of them want less for a while.

    A relay that answers late takes few letters a second for a domain, and most letters go to few
    domains. If every thread claimed what it then cannot send, the same letters would be claimed,
    made and given back again and again.

    Args:
        most: letters that may be under way to one domain at a time; 0 = any number.
        at_once: letters that one thread has under way at most.
    """

    def __init__(self, most: int, at_once: int) -> None:
        self._most = most
        self._at_once = at_once
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._in_hand: dict[int, Counter[str]] = {}
        self._crowded: dict[str, datetime] = {}
        self._rests: dict[str, tuple[datetime, int]] = {}

    def closed(self, now: datetime) -> frozenset[str]:
        """Domains to which nothing more is to be claimed now."""
        with self._lock:
            self._crowded = {d: until for d, until in self._crowded.items() if now < until}
            full = {d for d, count in self._busy.items() if self._most and count >= self._most}
            full |= {d for d in self._crowded if self._promised(d) >= self._most}
            return frozenset(full | {d for d, (until, _) in self._rests.items() if now < until})

    def _promised(self, domain: str) -> int:
        """How many of its places those threads need that have letters for it in hand."""
        return sum([min(self._at_once, mine[domain]) for mine in self._in_hand.values()])

    def next_opening(self, now: datetime) -> datetime | None:
        """When the next rest ends; ``None`` if nobody rests."""
        with self._lock:
            return min((until for until, _ in self._rests.values() if until > now), default=None)

    def take(self, recipients: Iterable[str]) -> list[str]:
        """The calling thread has claimed letters to these; `put_down` when its batch is over.

        Returns:
            The domain of each, in lower case.
        """
        domains = [recipient.rpartition("@")[2].lower() for recipient in recipients]
        with self._lock:
            self._in_hand[threading.get_ident()] = Counter(domains)
        return domains

    def put_down(self) -> bool:
        """The calling thread has no letters in hand any more; whether others waited for that."""
        with self._lock:
            before = {domain for domain in self._crowded if self._promised(domain) >= self._most}
            self._in_hand.pop(threading.get_ident(), None)
            return before != {domain for domain in before if self._promised(domain) >= self._most}

    def enter(self, domain: str, now: datetime) -> datetime | None:
        """Begin a letter; else when to try again. Whoever may begin must `leave`."""
        with self._lock:
            until, _ = self._rests.get(domain, (now, 0))
            if now < until:
                return until
            if self._most and self._busy[domain] >= self._most:
                self._crowded[domain] = now + CROWDED
                return now
            self._busy[domain] += 1
            return None

    def leave(self, domain: str, *, took: bool) -> bool:
        """A letter is done; whether others had to wait for that.

        Args:
            took: the domain has taken it, so that its next rest is short again.
        """
        with self._lock:
            if took:
                self._rests.pop(domain, None)
            was_full = bool(self._most) and self._busy[domain] >= self._most
            self._busy[domain] -= 1
            if not self._busy[domain]:
                del self._busy[domain]
            return was_full and domain not in self._crowded

    def rest(self, domain: str, now: datetime) -> datetime:
        """The domain wants fewer letters; until when it gets none, each time twice as long."""
        with self._lock:
            _, times = self._rests.get(domain, (now, 0))
            until = now + min(SHORTEST_REST * (1 << min(times, 10)), LONGEST_REST)
            self._rests[domain] = (until, times + 1)
            return until
