"""Who may stay: the connections of one listener, bounded when they are made.

Strangers have so many places in all and for each network, our own servers have places of their own.
As the places fill, whoever does nothing useful is given less and less time; when all are taken, a
newcomer gets the place of the one who has done nothing useful for the longest, first in the
network that has the most of them. So a crowd that only sits there keeps nobody out but itself.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntEnum
from time import monotonic

from pbmserv.mail.envelope import Network, block_name, is_among
from pbmserv.monitoring import metrics

LEAST_STAY_S = 10.0
"""Seconds that a client has before another one of its own network can take its place."""
SPAN_S = 600.0
"""Seconds in which a network's refusals are one line of the log, or two: the first, and how many
followed it."""
MOST_TOLD = 100
"""Networks with lines of their own in a span; the others share one."""

IN_ALL = "too many sessions"
FROM_NETWORK = "too many sessions from your network"
IDLE = "idle while others wait"
NO_FILES = "no file descriptors are left"

log = logging.getLogger("pbmserv.crowd")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a listener allows.

    Attributes:
        strangers: places in all.
        from_network: of these, for one /24 (IPv4) or /64 (IPv6).
        own: places of our own servers.
        idle: seconds without anything useful, up to half of the strangers' places.
        idle_full: the same when they are all taken; between the two it shrinks evenly.
    """

    strangers: int
    from_network: int
    own: int
    idle: float
    idle_full: float


class Stage(IntEnum):
    """Whose turn it is in a connection; who is at the lowest stage has to go first."""

    IDLE = 0
    """The client's, and it has not begun."""
    ASKING = 1
    """The client's, in the middle of a mail or a request."""
    SERVED = 2
    """Ours: it is not interrupted."""


class Place:
    """The place of one connection.

    Attributes:
        network: the client's /24 or /64; ``None`` for our own servers.
        since: when the client came, or has last done something useful (`ConnectionLimits.renew`).
        stage: set by the protocol.
        end: asks the connection to end at once; set by the protocol.
    """

    __slots__ = ("end", "network", "since", "stage")

    def __init__(self, network: str | None, since: float, end: Callable[[], None]) -> None:
        self.network = network
        self.since = since
        self.stage = Stage.IDLE
        self.end = end


class ConnectionLimits:
    """The connections of one listener. For one thread, that of the event loop.

    Args:
        listener: its name in the log.
        own: networks of our own servers.
        clock: seconds.
    """

    def __init__(
        self,
        listener: str,
        bounds: Bounds,
        own: Collection[Network],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._bounds = bounds
        self._own_networks = own
        self._clock = clock
        self._strangers: dict[Place, None] = {}  # in the order in which they came
        self._own: dict[Place, None] = {}
        self._by_network: Counter[str] = Counter()
        self._refusals = _Refusals(listener, clock)

    def is_ours(self, peer: str) -> bool:
        """Whether a client is one of our own servers, which hands on what others sent."""
        return is_among(peer, self._own_networks)

    @property
    def inside(self) -> tuple[int, int]:
        """Places that are taken, and places that there are, of strangers."""
        return len(self._strangers), self._bounds.strangers

    @property
    def own_inside(self) -> tuple[int, int]:
        """The same of our own servers."""
        return len(self._own), self._bounds.own

    def enter(self, peer: str, end: Callable[[], None]) -> Place | str:
        """A place for a client, which must `leave` it; else why there is none.

        Args:
            peer: its network address; what is none (a Unix socket) is one of ours.
            end: see `Place`.
        """
        now = self._clock()
        network = None if self.is_ours(peer) else block_name(peer) or None
        self._send_idle_away(now)
        full = self._full(network)
        if full:
            loser = self._loser(network, full, now)
            if loser is None:
                self._refusals.add(network, full)
                return full
            self._send_away(loser)
        place = Place(network, now, end)
        if network is None:
            self._own[place] = None
        else:
            self._strangers[place] = None
            self._by_network[network] += 1
        return place

    def leave(self, place: Place) -> None:
        """A connection has ended; doing so twice is no error."""
        self._own.pop(place, None)
        if place.network is not None and place in self._strangers:
            self._strangers.pop(place)
            self._by_network[place.network] -= 1
            if not self._by_network[place.network]:
                del self._by_network[place.network]

    def renew(self, place: Place) -> None:
        """The client has done something useful."""
        place.since = self._clock()

    def no_files(self, peer: str) -> None:
        """A client had to be turned away because no file descriptor was left for it."""
        self._refusals.add(block_name(peer), NO_FILES)

    @property
    def idle_limit(self) -> float:
        """Seconds that a stranger may do nothing useful now."""
        bounds = self._bounds
        over_half = max(0.0, 2 * len(self._strangers) / bounds.strangers - 1)
        return bounds.idle - min(over_half, 1.0) * (bounds.idle - bounds.idle_full)

    def _send_idle_away(self, now: float) -> None:
        """End connections that were idle for too long, once half the places are taken."""
        if len(self._strangers) * 2 <= self._bounds.strangers:
            return
        limit = self.idle_limit
        for place in [p for p in self._strangers if now - p.since > limit]:
            if place.stage is not Stage.SERVED:
                self._send_away(place)

    def _full(self, network: str | None) -> str:
        """Why a newcomer needs the place of somebody else; ``""`` where there is a free one."""
        if network is None:
            return IN_ALL if len(self._own) >= self._bounds.own else ""
        if self._by_network[network] >= self._bounds.from_network:
            return FROM_NETWORK
        return IN_ALL if len(self._strangers) >= self._bounds.strangers else ""

    def _loser(self, network: str | None, full: str, now: float) -> Place | None:
        """Whose place a newcomer gets, if anybody's."""
        if network is None:
            found = [p for p in self._own if p.stage is Stage.IDLE]
        elif (
            full == IN_ALL and (most := max(self._by_network.values())) > self._by_network[network]
        ):
            crowded = {one for one, count in self._by_network.items() if count == most}
            found = [p for p in self._strangers if p.network in crowded]
            found = [p for p in found if p.stage is not Stage.SERVED]
        else:  # nobody else's network has more: it has to be one of its own
            found = [p for p in self._strangers if p.network == network and p.stage is Stage.IDLE]
            found = [p for p in found if now - p.since > LEAST_STAY_S]
        return min(found, key=lambda p: (p.stage, p.since), default=None)

    def _send_away(self, place: Place) -> None:
        self.leave(place)
        self._refusals.add(place.network, IDLE)
        place.end()


class _Refusals:
    """Logs the networks that a listener turned away, without a line for each connection."""

    def __init__(self, listener: str, clock: Callable[[], float]) -> None:
        self._listener = listener
        self._clock = clock
        self._begun = clock()
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, network: str | None, because: str) -> None:
        """Count one. The first of a span gets a line at once, the others one when it is over."""
        metrics.TURNED_AWAY.labels(self._listener, because).inc()
        if self._clock() - self._begun > SPAN_S:
            self._finish()
        key = (network or "own", because)
        if key not in self._counts and len(self._counts) >= MOST_TOLD:
            key = ("others", because)
        if key not in self._counts:
            self._tell(*key, 1)
        self._counts[key] = self._counts.get(key, 0) + 1

    def _finish(self) -> None:
        for key, count in self._counts.items():
            if count > 1:
                self._tell(*key, count)
        self._counts.clear()
        self._begun = self._clock()

    def _tell(self, network: str, because: str, count: int) -> None:
        facts = {"network": network, "because": because, "listener": self._listener, "count": count}
        log.info("session refused", extra=facts)


def peer_of(peername: object) -> str:
    """The network address in a socket's name for its other end; ``""`` on a Unix socket."""
    return str(peername[0]) if isinstance(peername, tuple) and peername else ""
