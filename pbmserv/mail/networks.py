"""Network addresses of clients, and the networks to which they belong."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

LOOPBACK: tuple[Network, ...] = (
    ipaddress.ip_network("127.0.0.0/8"),
    ipaddress.ip_network("::1"),
)
"""The networks of this machine."""

_PREFIXES = {4: 24, 6: 64}


@lru_cache(maxsize=4096)
def address_of(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a client's address; `None` if the text is not an address.

    An IPv4 address in IPv6 notation (``::ffff:192.0.2.1``) is an IPv4 address.
    """
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


@lru_cache(maxsize=4096)
def block_name(peer: str) -> str:
    """Return the name of the /24 or /64 of a client's address; ``""`` for other texts.

    Such a block counts as one neighbour, because a flood comes from more than one address.
    """
    address = address_of(peer)
    if address is None:
        return ""
    return str(ipaddress.ip_network((address, _PREFIXES[address.version]), strict=False))


def network_of(text: str) -> Network | None:
    """Return the network that a text names, or that of a single address; `None` for other texts."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def is_among(peer: str, networks: Iterable[Network]) -> bool:
    """Return whether a client's address belongs to one of *networks*."""
    address = address_of(peer)
    if address is None:
        return False
    return any(address in network for network in networks)
