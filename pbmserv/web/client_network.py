"""Finds the network for which a request is counted."""

from __future__ import annotations

from collections.abc import Collection

from starlette.requests import Request

from pbmserv.mail.envelope import Network, block_name, is_among


def network_of(request: Request, proxies: Collection[Network]) -> str:
    """Return the /24 or /64 that a request comes from; ``""`` if nobody knows.

    Proxies of ours append the address of their client to ``X-Forwarded-For``; whatever stands to
    the left of it may be anybody's invention, and so may be the whole field from anybody else.
    """
    peer = request.client.host if request.client else ""
    named = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    while is_among(peer, proxies):
        peer = named.pop().strip() if named else ""
        if not peer:
            return ""
    return block_name(peer)
