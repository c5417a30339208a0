"""Limits on the connections of one listener.

Strangers have a number of places in total and for each network; our own servers have separate
places. If none is free, a new client gets the place of the connection that has been idle the
longest, first in the network that has the most of them. A crowd of idle clients therefore only
displaces itself.

A protocol calls `ConnectionLimits.enter` in its `connection_made` and `leave` in its
`connection_lost`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntEnum
from time import monotonic

from pbmserv.mail.networks import Network, block_name, is_among
from pbmserv.monitoring import metrics

LEAST_STAY_S = 10.0
"""Seconds before another client of the same network can take a place."""

IN_ALL = "too many sessions"
FROM_NETWORK = "too many sessions from your network"
IDLE = "idle while others wait"

log = logging.getLogger("pbmserv.crowd")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The number of places of a listener.

    Attributes:
        strangers: places in total.
        from_network: places of these for one /24 (IPv4) or /64 (IPv6).
        own: places of our own servers.
    """

    strangers: int
    from_network: int
    own: int


class Stage(IntEnum):
    """State of a connection; the lowest one loses its place first."""

    IDLE = 0
    """We wait for the client, which has not begun a mail or a request."""
    ASKING = 1
    """We wait for the rest of a mail or a request."""
    SERVED = 2
    """The client waits for us. It never loses its place."""


class Place:
    """The place of one connection.

    Attributes:
        network: the client's /24 or /64; `None` for our own servers.
        since: time of the connection, or of its last mail or request (`ConnectionLimits.renew`).
        stage: set by the protocol.
        end: closes the connection at once; set by the protocol.
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
    """

    def __init__(
        self,
        listener: str,
        bounds: Bounds,
        own: Collection[Network],
    ) -> None:
        self._listener = listener
        self._bounds = bounds
        self._own_networks = own
        self._strangers: dict[Place, None] = {}  # in the order of their arrival
        self._own: dict[Place, None] = {}
        self._by_network: Counter[str] = Counter()

    def is_ours(self, peer: str) -> bool:
        """Return whether a client is one of our own servers, which hands on mails of others."""
        return is_among(peer, self._own_networks)

    @property
    def inside(self) -> tuple[int, int]:
        """Number of taken places and of all places of strangers."""
        return len(self._strangers), self._bounds.strangers

    @property
    def own_inside(self) -> tuple[int, int]:
        """Number of taken places and of all places of our own servers."""
        return len(self._own), self._bounds.own

    def enter(self, peer: str, end: Callable[[], None]) -> Place | str:
        """Give a new client a place, which must be returned with `leave`.

        Args:
            peer: its network address; ``""`` (a Unix socket) is one of our own servers.
            end: see `Place`.

        Returns:
            The place, or the reason why there is none.
        """
        now = monotonic()
        network = None if self.is_ours(peer) else block_name(peer) or None
        reason = self._full(network)
        if reason:
            loser = self._loser(network, reason, now)
            if loser is None:
                self._note(network, reason)
                return reason
            self.leave(loser)
            self._note(loser.network, IDLE)
            loser.end()
        place = Place(network, now, end)
        if network is None:
            self._own[place] = None
        else:
            self._strangers[place] = None
            self._by_network[network] += 1
        return place

    def leave(self, place: Place) -> None:
        """Free the place of a connection that ended; a second call does nothing."""
        self._own.pop(place, None)
        if place.network is not None and place in self._strangers:
            self._strangers.pop(place)
            self._by_network[place.network] -= 1
            if not self._by_network[place.network]:
                del self._by_network[place.network]

    def renew(self, place: Place) -> None:
        """Note that the client has sent a mail or a request."""
        place.since = monotonic()

    def _full(self, network: str | None) -> str:
        """Return why no place is free for a new client; ``""`` if one is."""
        if network is None:
            return IN_ALL if len(self._own) >= self._bounds.own else ""
        if self._by_network[network] >= self._bounds.from_network:
            return FROM_NETWORK
        return IN_ALL if len(self._strangers) >= self._bounds.strangers else ""

    def _loser(self, network: str | None, reason: str, now: float) -> Place | None:
        """Return the place that a new client takes over, if any."""
        most = max(self._by_network.values(), default=0)
        if network is None:
            places = [place for place in self._own if place.stage is Stage.IDLE]
        elif reason == IN_ALL and most > self._by_network[network]:
            crowded = {name for name, count in self._by_network.items() if count == most}
            places = [
                place
                for place in self._strangers
                if place.network in crowded and place.stage is not Stage.SERVED
            ]
        else:  # no other network has more connections
            places = [
                place
                for place in self._strangers
                if place.network == network
                and place.stage is Stage.IDLE
                and now - place.since > LEAST_STAY_S
            ]
        return min(places, key=lambda place: (place.stage, place.since), default=None)

    def _note(self, network: str | None, reason: str) -> None:
        """Log and count a connection that got no place, or lost its place."""
        metrics.TURNED_AWAY.labels(self._listener, reason).inc()
        facts = {"network": network or "own", "because": reason, "listener": self._listener}
        log.info("session refused", extra=facts)


def peer_of(peername: object) -> str:
    """Return the network address in a socket's peer name; ``""`` for a Unix socket."""
    return str(peername[0]) if isinstance(peername, tuple) and peername else ""
