"""Networks that count as one neighbour, since a flood comes from more than one address."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

LOOPBACK: tuple[Network, ...] = (
    ipaddress.ip_network("127.0.0.0/8"),
    ipaddress.ip_network("::1"),
)
"""This machine."""

_PREFIXES = {4: 24, 6: 64}


@lru_cache(maxsize=4096)
def address_of(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A client's address; ``None`` for what is none.

    IPv4 addresses in IPv6's clothes (``::ffff:192.0.2.1``) are IPv4 addresses.
    """
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


@lru_cache(maxsize=4096)
def block_of(peer: str) -> Network | None:
    """The /24 or /64 that a client's address belongs to; ``None`` for what is no address."""
    address = address_of(peer)
    if address is None:
        return None
    return ipaddress.ip_network((address, _PREFIXES[address.version]), strict=False)


@lru_cache(maxsize=4096)
def block_name(peer: str) -> str:
    """The name of that /24 or /64; ``""`` for what is no address."""
    block = block_of(peer)
    return "" if block is None else str(block)


def is_among(peer: str, networks: Iterable[Network]) -> bool:
    """Whether a client's address belongs to one of *networks*."""
    address = address_of(peer)
    if address is None:
        return False
    for network in networks:  # noqa: SIM110 - asked several times for each mail
        if address in network:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """Where a mail comes from, as far as its sender cannot choose that.

    Attributes:
        network: the /24 or /64 of the client that brought the mail to us, or to a mail server of
            ours; ``""`` where it is unknown.
        sender: the envelope's, in lower case; ``""`` for the null sender. Anybody can forge it.
    """

    network: str
    sender: str

    @property
    def neighbours(self) -> str:
        """Who else counts as the same neighbour: the network, else the sender's domain."""
        return self.network or f"@{self.sender.rpartition('@')[2]}"


NOWHERE = Source("", "")
"""Of what did not come by mail."""
