"""How many clients are here, in all and from each network, and who else may come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from pbmserv.networks import Network, block_of, is_among

MOST_SESSIONS = 100
"""Open at a time."""
MOST_FROM_NETWORK = 20
"""Open at a time from one /24 (IPv4) or /64 (IPv6)."""


class Crowd:
    """The open sessions of one listener.

    Args:
        trusted: networks of our own mail servers: only `MOST_SESSIONS` counts for them.
    """

    def __init__(self, trusted: Collection[Network]) -> None:
        self._trusted = trusted
        self._inside = 0
        self._by_network: Counter[Network] = Counter()

    def is_ours(self, peer: str) -> bool:
        """Whether a client is one of our own mail servers, which hands on what others sent."""
        return is_among(peer, self._trusted)

    @property
    def inside(self) -> int:
        """Sessions that are open."""
        return self._inside

    @property
    def most(self) -> int:
        """Sessions that may be open."""
        return MOST_SESSIONS

    def enter(self, peer: str) -> str:
        """Let a client in; else why not, for a 421. Whoever is let in must `leave`."""
        if self._inside >= MOST_SESSIONS:
            return "too many sessions"
        block = self._block(peer)
        if block is not None and self._by_network[block] >= MOST_FROM_NETWORK:
            return "too many sessions from your network"
        self._inside += 1
        if block is not None:
            self._by_network[block] += 1
        return ""

    def leave(self, peer: str) -> None:
        """A client that was let in is gone."""
        self._inside -= 1
        block = self._block(peer)
        if block is not None:
            self._by_network[block] -= 1
            if not self._by_network[block]:
                del self._by_network[block]

    def _block(self, peer: str) -> Network | None:
        return None if self.is_ours(peer) else block_of(peer)
