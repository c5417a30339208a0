"""Where a mail comes from: the client's network, also behind mail servers of our own.

Each mail server writes a Received field on top of those that are there (RFC 5321 section 4.4),
so the topmost one is our own server's word about its client. If that client is one of our
servers, too (or a filter beside it), the next field is that one's word; all others are a
stranger's.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pbmserv.inbound.headers import HEADER_LIMIT
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.networks import LOOPBACK, Network, Source, block_name, is_among

MOST_SERVERS = 5
"""Servers and filters of our own that a mail may pass, one behind the other."""

_RECEIVED = re.compile(
    rb"^received[ \t]*:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)", re.IGNORECASE | re.MULTILINE
)
_LITERAL = r"\[(?:IPv6:)?([0-9A-Fa-f:.]{2,45})\]"
# What the client says of itself stands first; what the server knows stands in the parentheses.
# Postfix, Sendmail, OpenSMTPD: from HELO (NAME [ADDRESS]); Exim: from NAME ([ADDRESS] helo=HELO)
_BESIDE_NAME = re.compile(rf"\s*from\s+\S+\s+\((?:[^()\[\]\s]+\s+)?{_LITERAL}", re.IGNORECASE)
# Exim, for a client without a name: from [ADDRESS] (helo=HELO)
_ALONE = re.compile(
    rf"\s*from\s+{_LITERAL}(?::\d+)?\s+(?:\([^()\[\]\s]*(?:helo|port)=|by\s)", re.IGNORECASE
)


def source_of(envelope: Envelope, ours: Collection[Network]) -> Source:
    """Where a mail comes from.

    Args:
        ours: networks of our own mail servers.
    """
    network = block_name(envelope.peer)
    if envelope.handed_on or not network or is_among(envelope.peer, ours):
        network = block_name(_client(envelope.raw, ours))
    return Source(network, envelope.sender.lower())


def _client(raw: bytes, ours: Collection[Network]) -> str:
    """The client of our outermost server; ``""`` if no field names it."""
    end = raw.find(b"\r\n\r\n", 0, HEADER_LIMIT)
    fields = _RECEIVED.finditer(raw, 0, end if end >= 0 else min(len(raw), HEADER_LIMIT))
    for field, _ in zip(fields, range(MOST_SERVERS), strict=False):
        text = field[1].decode("latin-1")
        found = _BESIDE_NAME.match(text) or _ALONE.match(text)
        if found is None:
            return ""
        if not (is_among(found[1], LOOPBACK) or is_among(found[1], ours)):
            return found[1]
    return ""
