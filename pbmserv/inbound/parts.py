"""The parts of a MIME body, one after the other, and the octets behind a transfer encoding.

Nothing is built in advance, so whoever asks for the parts can count them and stop.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from pbmserv.inbound.headers import Headers, first, split_block

_NOT_BASE64 = bytes(
    set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
)
# A relay that pads lines breaks soft line breaks (RFC 2045 section 6.7, rule 3).
_PADDED_SOFT_BREAK = re.compile(rb"=[ \t]+\r\n")
_DELIMITER_REST = re.compile(rb"(--)?[ \t]*(?:\r\n|\Z)")


def split_parts(body: bytes, boundary: str) -> Iterator[tuple[bytes, bytes]]:
    """Header block and body of each part that `boundary` delimits (RFC 2046 section 5.1.1).

    Raises:
        MailError: ``headers-too-long`` in a part.
    """
    mark = b"--" + boundary.rstrip().encode("utf-8", "surrogateescape")
    if len(mark) == 2:
        return
    start = -1
    at = 0 if body.startswith(mark) else _next(body, mark, 0)
    while at >= 0:
        rest = _DELIMITER_REST.match(body, at + len(mark))
        if rest is not None:
            if start >= 0:
                yield split_block(body[start : max(start, at - 2)])
            if rest[1]:
                return
            start = rest.end()
        at = _next(body, mark, at)
    if start >= 0:
        yield split_block(body[start:])  # the closing delimiter is missing: a cut mail


def _next(body: bytes, mark: bytes, at: int) -> int:
    """Where the next line begins that starts with `mark`, after the one at `at`; else -1."""
    found = body.find(b"\r\n" + mark, at)
    return found + 2 if found >= 0 else -1


def encoding_of(headers: Headers) -> str:
    """A part's transfer encoding in lower case, without comments and marks behind it."""
    value = first(headers, "content-transfer-encoding")
    return value.partition(";")[0].partition("(")[0].strip(" \t\"'").lower()


def octets_of(body: bytes, encoding: str) -> bytes:
    """`body` without its transfer encoding, as far as it can be read (RFC 2045 section 6)."""
    if encoding == "quoted-printable":
        return binascii.a2b_qp(_PADDED_SOFT_BREAK.sub(b"=\r\n", body))
    if encoding == "base64":
        # Padding ends it: what list servers append below is not ours to decode.
        digits = body.translate(None, _NOT_BASE64).partition(b"=")[0]
        if len(digits) % 4 == 1:
            digits = digits[:-1]
        return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
    return body
