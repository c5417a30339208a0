"""Finds the network for which a request is counted."""

from __future__ import annotations

from collections.abc import Collection

from starlette.requests import Request

from pbmserv.mail.networks import Network, block_name, is_among


def network_of(request: Request, proxies: Collection[Network]) -> str:
    """Return the /24 or /64 that a request comes from; ``""`` if it is unknown.

    Each of our proxies appends the address of its client to ``X-Forwarded-For``. Addresses to the
    left of that one may be forged, and so may the whole field of a request that did not pass one
    of our proxies.
    """
    peer = request.client.host if request.client else ""
    forwarded_for = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    while is_among(peer, proxies):
        peer = forwarded_for.pop().strip() if forwarded_for else ""
        if not peer:
            return ""
    return block_name(peer)
