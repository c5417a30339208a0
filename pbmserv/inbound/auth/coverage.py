"""What a signature must cover before it counts: a signed mail can be sent again by anybody.

DKIM says that a domain signed some words, not that it sent them here. Whoever once got a mail
of a player's could hand it in as a command, with another subject, or again and again. So the
fields that decide what a mail does must be signed, stand there once, and name us as reader; and
the Message-ID must be one by which we tell copies, so that the second one is a copy for good.

How the body is to be read (Content-Type, Content-Transfer-Encoding) need not be signed: Gmail, for
one, does not. Who has a mail before it comes here could hand it in with another Content-Type;
then it is read in another way once, and the mail itself is the copy. Its words are still its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pbmserv.errors import MailError
from pbmserv.inbound.address import one_mailbox
from pbmserv.inbound.headers import Headers
from pbmserv.inbound.message import message_id

DECIDING = ("from", "to", "cc", "subject", "date", "message-id")
"""Each must be signed if it is there, and must not be there twice (RFC 6376 section 8.15)."""

ONCE = (*DECIDING, "content-type", "content-transfer-encoding")
"""Signers take the lowest field of a name, our readers the topmost."""

MOST_READERS = 50
LONGEST_LIST = 8_000
# Relaxed canonicalisation as dkimpy has it (RFC 6376 section 3.4.2) takes more than blanks off the
# ends of a field: what is signed would not be, octet by octet, what our readers see.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[^",]+|,|"')


def lacking(headers: Headers, signed: Collection[str], recipient: str) -> str:
    """Why a signature does not count; ``""`` if it does.

    Args:
        headers: the fields of the mail.
        signed: names of the fields that it covers, in lower case.
        recipient: the address of ours that the mail came to.
    """
    for name in ONCE:
        found = len(headers.get(name, ()))
        if found > 1:
            return f"there are {found} {name} fields"
        if found and name in DECIDING and name not in signed:
            return f"{name} is not signed"
    if any(_CONTROL.search(value) for values in headers.values() for value in values):
        return "there are control characters in the header"
    if not headers.get("from"):
        return "there is no from"
    if not message_id(headers):
        return "there is no message-id that copies could be told by"
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
