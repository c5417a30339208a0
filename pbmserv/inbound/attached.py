"""Finds an attached text file, for the few commands that need one."""

from __future__ import annotations

from pbmserv.errors import MailError
from pbmserv.inbound.body import DEPTH_LIMIT, PARTS_LIMIT
from pbmserv.inbound.headers import (
    Headers,
    content_type,
    disposition_of,
    first,
)
from pbmserv.inbound.parts import leaves_of, octets_of

LONGEST_FILE = 200_000
"""Octets of a file that are read."""


def attached_text(raw: bytes, mark: str) -> str:
    """Return the first attached text with a line that begins with *mark*; ``""`` for none.

    It reads the mail again, because `read_body` stops at the first text and ignores files.
    """
    try:
        for headers, inner in leaves_of(raw, most=PARTS_LIMIT, deepest=DEPTH_LIMIT):
            text = _named_text(headers, inner)
            if any(line.startswith(mark) for line in text.splitlines()):
                return text
    except MailError:
        return ""
    return ""


def _named_text(headers: Headers, body: bytes) -> str:
    """Return the text of a part that has a file name; ``""`` for other parts."""
    kind = content_type(first(headers, "content-type"))
    if not (kind.param("name") or disposition_of(headers).param("filename")):
        return ""
    # Base64 needs 1.4 times the octets of the text, quoted-printable three times.
    octets = octets_of(headers, body[: 4 * LONGEST_FILE])
    return octets[:LONGEST_FILE].decode("utf-8", "replace")
