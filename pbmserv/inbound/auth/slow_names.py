"""Remembers domains and networks whose name servers were repeatedly too slow.

A sender check that exceeds its deadline occupies a thread for nothing. After some of them in a row,
the domain's mails from that network are not checked for a while. If mails of many domains from one
network do this, the whole network is not checked, except for domains that answered in time lately.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

PAIR_STRIKES = 2
"""Abandoned checks in a row after which a domain's mails from one network are not checked."""
NETWORK_STRIKES = 6
"""Abandoned checks in a row after which no mail of a network is checked."""
CLOSED_S = 600.0
"""Seconds for which they are not checked; older abandoned checks do not count."""
REMEMBERED = 2_000
"""Domains, and networks, that are remembered; the least recently seen one is forgotten first."""


@dataclass(slots=True)
class _Strikes:
    """Number of abandoned checks in a row, and the time when the last one ended."""

    count: int
    at: float


class SlowNames:
    """Counts abandoned sender checks. Thread-safe.

    Args:
        clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._pairs: OrderedDict[tuple[str, str], _Strikes] = OrderedDict()
        self._networks: OrderedDict[str, _Strikes] = OrderedDict()
        self._prompt: OrderedDict[str, None] = OrderedDict()

    def may_check(self, domain: str, network: str) -> bool:
        """Return whether a mail of this domain from this network may be checked now.

        Args:
            network: ``""`` if it is unknown; unknown networks do not count as one network.
        """
        with self._guard:
            if self._strikes(self._pairs, (domain, network)) >= PAIR_STRIKES:
                return False
            if domain in self._prompt:
                return True
            return self._strikes(self._networks, network) < NETWORK_STRIKES

    def note(self, domain: str, network: str, *, in_time: bool) -> None:
        """Record how a check ended."""
        pair = domain, network
        with self._guard:
            if in_time:
                self._pairs.pop(pair, None)
                _remember(self._prompt, domain, None)
                return
            self._prompt.pop(domain, None)
            now = self._clock()
            _remember(self._pairs, pair, _Strikes(self._strikes(self._pairs, pair) + 1, now))
            if network:
                strikes = self._strikes(self._networks, network) + 1
                _remember(self._networks, network, _Strikes(strikes, now))

    def _strikes(self, kept: OrderedDict[K, _Strikes], key: K) -> int:
        """Return the abandoned checks that still count, and forget those that do not."""
        strikes = kept.get(key)
        if strikes is None:
            return 0
        if self._clock() >= strikes.at + CLOSED_S:
            del kept[key]
            return 0
        return strikes.count


def _remember(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Store a value as the newest one, and forget the oldest if there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
