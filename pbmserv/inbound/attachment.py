"""The text of a file that travels with a mail, for the few commands that ask for one."""

from __future__ import annotations

from collections.abc import Iterator

from pbmserv.errors import MailError
from pbmserv.inbound.body import DEPTH_LIMIT, PARTS_LIMIT
from pbmserv.inbound.headers import (
    Headers,
    content_type,
    disposition_of,
    first,
    read_headers,
    split_block,
)
from pbmserv.inbound.parts import encoding_of, octets_of, split_parts

LONGEST = 200_000
"""Octets of a file that are looked at."""


def attached_text(raw: bytes, mark: str) -> str:
    """The first attached text in which a line begins with *mark*, "" if there is none.

    It is asked for while the database waits, and reading the mail stopped at its first text. So
    the walk has the limits of `pbmserv.receive.body` itself; beyond them there is no file.
    """
    try:
        block, body = split_block(raw)
        for headers, inner in _leaves(read_headers(block), body):
            text = _text(headers, inner)
            if any(line.startswith(mark) for line in text.splitlines()):
                return text
    except MailError:
        return ""
    return ""


def _leaves(headers: Headers, body: bytes) -> Iterator[tuple[Headers, bytes]]:
    """The parts without parts, in their order, as far as the limits go."""
    left = PARTS_LIMIT
    stack = [_parts(headers, body)]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            continue
        fields, inner = found
        if not _is_multipart(fields):
            yield found
        elif len(stack) < DEPTH_LIMIT:
            stack.append(_parts(fields, inner))
        left -= 1
        if not left:
            return


def _parts(headers: Headers, body: bytes) -> Iterator[tuple[Headers, bytes]]:
    if not _is_multipart(headers):
        yield headers, body
        return
    boundary = content_type(first(headers, "content-type")).params.get("boundary", "")
    for block, inner in split_parts(body, boundary):
        yield read_headers(block), inner


def _is_multipart(headers: Headers) -> bool:
    return content_type(first(headers, "content-type")).kind.startswith("multipart/")


def _text(headers: Headers, body: bytes) -> str:
    """The text of a part that has a name of its own, else ``""``."""
    kind = content_type(first(headers, "content-type"))
    if not (kind.param("name") or disposition_of(headers).param("filename")):
        return ""
    # An encoded line has a good third more octets than what it says, quoted-printable thrice.
    octets = octets_of(body[: 4 * LONGEST], encoding_of(headers))
    return octets[:LONGEST].decode("utf-8", "replace")
