"""What a signature must cover before it counts: a signed mail can be sent again by anybody.

DKIM says that a domain signed some words, not that it sent them here. Whoever once got a mail
of a player's could hand it in as a command, with another subject, or again and again. So the
fields that decide what a mail does must be signed, stand there once, and name us as reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pbmserv.errors import MailError
from pbmserv.receive.address import one_mailbox
from pbmserv.receive.headers import Headers

DECIDING = ("from", "to", "cc", "subject", "date", "message-id")
"""Each must be signed if it is there, and must not be there twice (RFC 6376 section 8.15)."""

MUST_EXIST = ("from", "message-id")
"""Without a signed Message-ID the same mail could be carried out twice."""

MOST_READERS = 50
LONGEST_LIST = 8_000
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[^",]+|,|"')


def lacking(headers: Headers, signed: Collection[str], recipient: str) -> str:
    """Why a signature does not count; ``""`` if it does.

    Args:
        headers: the fields of the mail.
        signed: names of the fields that it covers, in lower case.
        recipient: the address of ours that the mail came to.
    """
    for name in DECIDING:
        found = len(headers.get(name, ()))
        if found > 1:
            return f"there are {found} {name} fields"
        if found and name not in signed:
            return f"{name} is not signed"
    for name in MUST_EXIST:
        if name not in headers:
            return f"there is no {name}"
    readers = [
        one for name in ("to", "cc") for value in headers.get(name, ()) for one in named(value)
    ]
    return "" if recipient.lower() in readers else "it was not written to this address"


def named(value: str) -> list[str]:
    """The addresses in a To or Cc field, in lower case; what cannot be read surely is left out."""
    if len(value) > LONGEST_LIST:
        return []
    mailboxes = [""]
    for piece in _PIECE.findall(value):
        if piece == ",":
            mailboxes.append("")
        else:
            mailboxes[-1] += piece
    found = []
    for mailbox in mailboxes[:MOST_READERS]:
        try:
            found.append(one_mailbox(mailbox.strip()).lower())
        except MailError:
            continue
    return found
