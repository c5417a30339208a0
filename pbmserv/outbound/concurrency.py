"""What the threads of one sender leave to each other: one makes letters at a time, and so many of
them go to a recipient domain at once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from typing import Protocol

TURN_S = 0.5
"""So long a thread works alone before the next begins beside it: one is enough for a processor and
a relay that answers, and two would only take turns away from each other."""
LONG_TURN_S = 5.0
"""After so long it begins whatever others mean to send: they may be stuck over a single letter."""
SHORTEST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)
CROWDED = timedelta(seconds=30)
"""So long after a letter had to be given back for it, a domain's letters are claimed by no more
threads than may send to it."""


class Held(Protocol):
    """Which letters a sender has in hand, for others to see, too."""

    def add(self, numbers: Iterable[int]) -> None:
        """They are."""
        ...

    def remove(self, numbers: Iterable[int]) -> None:
        """They are no longer."""
        ...

    def all(self) -> list[int]:
        """All of them."""
        ...


class Turn:
    """Who makes letters: a Python process has one processor."""

    def __init__(self) -> None:
        self._holder: object = None
        self._begun = 0.0
        self._changed = threading.Condition()

    @contextmanager
    def taken(
        self, stopping: threading.Event, can_begin: Callable[[], bool] = lambda: True
    ) -> Iterator[None]:
        """Wait until nobody has the turn, or whoever has it seems to wait for a slow relay while
        something can be sent beside it."""
        with self._changed:
            while self._holder is not None and not stopping.is_set():
                lasts = monotonic() - self._begun
                if lasts >= LONG_TURN_S or (lasts >= TURN_S and can_begin()):
                    break
                self._changed.wait(TURN_S - lasts if lasts < TURN_S else TURN_S)
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
        threads: how many there are.
        opened: called when more may be claimed for a domain.
    """

    def __init__(
        self, most: int, at_once: int, threads: int, opened: Callable[[], None] = lambda: None
    ) -> None:
        self._most = most
        self._at_once = at_once
        self._is_ahead = threads > 2  # else nobody would be left for other domains
        self._opened = opened
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._in_hand: dict[int, Counter[str]] = {}
        self._sending: set[int] = set()
        self._crowded: dict[str, datetime] = {}
        self._rests: dict[str, tuple[datetime, int]] = {}

    def closed(self, now: datetime) -> frozenset[str]:
        """Domains to which nothing more is to be claimed now.

        Where one thread takes all places of a domain, one more may have the next letters ready for
        when it is done, unless such had to be given back lately.
        """
        with self._lock:
            self._crowded = {d: until for d, until in self._crowded.items() if now < until}
            found = {d for d, (until, _) in self._rests.items() if now < until}
            for domain in self._promised(self._in_hand) if self._in_hand else ():
                holders = sum([domain in mine for mine in self._in_hand.values()])
                if domain in self._crowded or holders > 1 or not self._is_ahead:
                    found.add(domain)
            return frozenset(found)

    def has_room(self) -> bool:
        """Whether the calling thread can send something beside those that are sending."""
        with self._lock:
            mine = self._in_hand[threading.get_ident()]
            return not self._promised(self._sending) >= mine.keys()

    def _promised(self, threads: Iterable[int]) -> set[str]:
        """Domains all of whose places these threads need for the letters that they have in hand."""
        places = Counter[str]()
        if self._most:
            for thread in threads:
                in_hand = self._in_hand[thread]
                places.update({domain: min(self._at_once, in_hand[domain]) for domain in in_hand})
        return {domain for domain, needed in places.items() if needed >= self._most}

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
        if domains:
            with self._lock:
                self._in_hand[threading.get_ident()] = Counter(domains)
        return domains

    def put_down(self) -> None:
        """The calling thread has no letters in hand any more."""
        with self._lock:
            mine = self._in_hand.pop(threading.get_ident(), Counter())
            self._sending.discard(threading.get_ident())
            others = self._in_hand.values()
            waited = [d for d in mine if mine[d] + sum([one[d] for one in others]) >= self._most]
        if waited and self._most:
            self._opened()

    def is_full(self, domain: str) -> bool:
        """Whether it has as many letters under way as it gets."""
        with self._lock:
            return bool(self._most) and self._busy[domain] >= self._most

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
            self._sending.add(threading.get_ident())
            return None

    def leave(self, domain: str, *, took: bool) -> None:
        """A letter is done.

        Args:
            took: the domain has taken it, so that its next rest is short again.
        """
        with self._lock:
            if took:
                self._rests.pop(domain, None)
            self._busy[domain] -= 1
            if not self._busy[domain]:
                del self._busy[domain]

    def rest(self, domain: str, now: datetime) -> datetime:
        """The domain wants fewer letters; until when it gets none, each time twice as long."""
        with self._lock:
            _, times = self._rests.get(domain, (now, 0))
            until = now + min(SHORTEST_REST * (1 << min(times, 10)), LONGEST_REST)
            self._rests[domain] = (until, times + 1)
            return until
