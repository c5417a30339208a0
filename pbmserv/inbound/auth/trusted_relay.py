"""Which Authentication-Results a mail server of ours wrote: those that stand high enough.

Anybody can write such a field with our server's name into a mail. What a server writes above the
Received field that it adds (RFC 8601 sections 4 and 7.1) nobody outside can have written. Older
milters write below it (OpenDKIM and OpenDMARC until 2026, Rspamd), where only the server's own care
tells theirs from a stranger's; so the operator must say that this is to be read.
"""

from __future__ import annotations

import re

from pbmserv.inbound.auth.results import Said, said_by
from pbmserv.inbound.headers import read_headers, split_block

_RECEIVED = re.compile(rb"^received[ \t]*:", re.IGNORECASE | re.MULTILINE)


def said_before(server: str, hops: int, raw: bytes) -> list[Said]:
    """What *server* (an authserv-id) says in the fields that it can be believed to have written.

    Nothing where too few Received fields stand there: a server writes one (RFC 5321 section 4.4),
    so without it nobody knows where what came from outside begins.

    Args:
        hops: Received fields of our own servers that may stand above; 0 = none.
        raw: a mail whose header can be read.
    """
    block, _ = split_block(raw)
    places = [found.start() for found in _RECEIVED.finditer(block)]
    if len(places) < max(hops, 1):
        return []
    end = places[hops] if hops < len(places) else len(block)
    if hops and _said(server, block[end:]):
        # Those below came from outside and were not removed, so others may have come so, too.
        end = places[0]
    return _said(server, block[:end])


def _said(server: str, block: bytes) -> list[Said]:
    return said_by(server, read_headers(block).get("authentication-results", ()))
