"""Finds the network that a mail comes from.

Each mail server adds a Received field above the existing ones (RFC 5321 section 4.4). So the
topmost field is that of our own server, and names its client. If that client is another server or
filter of ours, the next field is that one's. All further fields may be forged.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pbmserv.inbound.headers import HEADER_LIMIT
from pbmserv.mail.envelope import Envelope, Source
from pbmserv.mail.networks import LOOPBACK, Network, block_name, is_among

MOST_SERVERS = 5
"""Servers and filters of our own that a mail may pass."""

_RECEIVED = re.compile(
    rb"^received[ \t]*:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)", re.IGNORECASE | re.MULTILINE
)
_LITERAL = r"\[(?:IPv6:)?([0-9A-Fa-f:.]{2,45})\]"
# First the name that the client gives, then in parentheses the facts that the server knows.
# Postfix, Sendmail, OpenSMTPD: from HELO (NAME [ADDRESS]); Exim: from NAME ([ADDRESS] helo=HELO)
_BESIDE_NAME = re.compile(rf"\s*from\s+\S+\s+\((?:[^()\[\]\s]+\s+)?{_LITERAL}", re.IGNORECASE)
# Exim, for a client without a name: from [ADDRESS] (helo=HELO)
_ALONE = re.compile(
    rf"\s*from\s+{_LITERAL}(?::\d+)?\s+(?:\([^()\[\]\s]*(?:helo|port)=|by\s)", re.IGNORECASE
)


def source_of(envelope: Envelope, ours: Collection[Network]) -> Source:
    """Return the source of a mail; its network is ``""`` if it is unknown.

    Args:
        ours: networks of our own mail servers.
    """
    return Source(block_name(client_of(envelope, ours)), envelope.sender.lower())


def client_of(envelope: Envelope, ours: Collection[Network]) -> str:
    """Return the network address of the client that sent a mail to us or to a server of ours.

    Args:
        ours: networks of our own mail servers.

    Returns:
        ``""`` if the address is unknown.
    """
    client_address, raw = envelope.peer, envelope.raw
    if envelope.handed_on or not block_name(envelope.peer) or is_among(envelope.peer, ours):
        client_address = ""
        end = raw.find(b"\r\n\r\n", 0, HEADER_LIMIT)
        fields = _RECEIVED.finditer(raw, 0, end if end >= 0 else min(len(raw), HEADER_LIMIT))
        for received, _ in zip(fields, range(MOST_SERVERS), strict=False):
            text = received[1].decode("latin-1")
            client = _BESIDE_NAME.match(text) or _ALONE.match(text)
            if client is None:
                break
            if not (is_among(client[1], LOOPBACK) or is_among(client[1], ours)):
                client_address = client[1]
                break
    return client_address
