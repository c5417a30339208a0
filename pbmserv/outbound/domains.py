"""Limits the letters that a recipient domain gets at once, and lets busy domains rest."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

SHORTEST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)
MANY_DEFERRED = 3
"""A domain rests when it has put off so many recipients without accepting a letter."""


class Domains:
    """The letters in hand and under way for each recipient domain; used by one thread.

    A letter is *in hand* from its claim until it is settled, and *under way* while it is handed to
    a relay.

    Args:
        most: letters to one domain that may be under way at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._in_hand: Counter[str] = Counter()
        self._under_way: Counter[str] = Counter()
        self._rests: dict[str, tuple[datetime, int]] = {}
        self._deferred: dict[str, set[str]] = {}

    def record_claim(self, domain: str) -> None:
        """Count a letter that was claimed."""
        self._in_hand[domain] += 1

    def record_settled(self, domain: str) -> None:
        """Count a letter that is no longer in hand."""
        self._in_hand[domain] -= 1
        if not self._in_hand[domain]:
            del self._in_hand[domain]

    def closed(self, now: datetime) -> frozenset[str]:
        """Return the domains for which no letter should be claimed now.

        These are the resting domains, and those with enough letters in hand to stay busy. Letters
        to a slow domain must not take every place in the sender.
        """
        resting = {domain for domain, (until, _) in self._rests.items() if now < until}
        busy = {domain for domain, letters in self._in_hand.items() if letters >= self._most}
        return frozenset(resting | busy)

    def next_opening(self, now: datetime) -> datetime | None:
        """Return the end of the next rest, `None` if no domain rests."""
        return min((until for until, _ in self._rests.values() if until > now), default=None)

    def may_begin(self, domain: str) -> bool:
        """Return whether one more letter to this domain may be under way."""
        return self._under_way[domain] < self._most

    def resting_until(self, domain: str, now: datetime) -> datetime | None:
        """Return the end of the domain's rest, `None` if it does not rest."""
        until, _ = self._rests.get(domain, (now, 0))
        return until if now < until else None

    def record_start(self, domain: str) -> None:
        """Count a letter that is being handed to the relay."""
        self._under_way[domain] += 1

    def record_end(self, domain: str, *, accepted: bool) -> None:
        """Count a letter that was accepted or refused; after acceptance the next rest is short."""
        if accepted:
            self._rests.pop(domain, None)
            self._deferred.pop(domain, None)
        self._under_way[domain] -= 1
        if not self._under_way[domain]:
            del self._under_way[domain]

    def record_deferral(self, domain: str, recipient: str, now: datetime) -> datetime | None:
        """Count a recipient whom a domain puts off, as greylisting does.

        Returns:
            The end of the domain's rest if it puts many recipients off; `None` if letters to
            others may be accepted.
        """
        recipients = self._deferred.setdefault(domain, set())
        recipients.add(recipient)
        if len(recipients) < MANY_DEFERRED:
            return None
        del self._deferred[domain]
        return self.begin_rest(domain, now)

    def begin_rest(self, domain: str, now: datetime) -> datetime:
        """Let a domain rest, twice as long as the last time; return the end of the rest."""
        _, rests = self._rests.get(domain, (now, 0))
        until = now + min(SHORTEST_REST * (1 << min(rests, 10)), LONGEST_REST)
        self._rests[domain] = (until, rests + 1)
        return until
