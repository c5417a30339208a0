"""Divides a MIME body into its parts, and removes transfer encodings.

Parts are read one after the other, and nothing is built in advance, so that a caller can count them
and stop. The standard library builds all parts first: a mail of 1 MiB can have 200,000.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from pbmserv.errors import MailError
from pbmserv.inbound.headers import Headers, content_type, first, read_headers, split_block
from pbmserv.mail import reading_time

_NOT_BASE64 = bytes(
    set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
)
# A soft line break after a relay has padded the line with blanks (RFC 2045 section 6.7, rule 3).
_PADDED_SOFT_BREAK = re.compile(rb"=[ \t]+\r\n")
_DELIMITER_REST = re.compile(rb"(--)?[ \t]*(?:\r\n|\Z)")


def split_parts(body: bytes, boundary: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the header block and the body of each part (RFC 2046 section 5.1.1).

    Raises:
        MailError: ``headers-too-long`` in a part.
    """
    mark = b"--" + boundary.rstrip().encode("utf-8", "surrogateescape")
    if len(mark) == 2:
        return
    start = -1
    at = 0 if body.startswith(mark) else _next(body, mark, 0)
    while at >= 0:
        reading_time.check()
        rest = _DELIMITER_REST.match(body, at + len(mark))
        if rest is not None:
            if start >= 0:
                yield split_block(body[start : max(start, at - 2)])
            if rest[1]:
                return
            start = rest.end()
        at = _next(body, mark, at)
    if start >= 0:
        yield split_block(body[start:])  # the mail was cut, so the closing delimiter is missing


def _next(body: bytes, mark: bytes, at: int) -> int:
    """Return the start of the next line that begins with `mark` after `at`; -1 for none."""
    line_end = body.find(b"\r\n" + mark, at)
    return line_end + 2 if line_end >= 0 else -1


def leaves(
    headers: Headers, body: bytes, *, most: int, deepest: int
) -> Iterator[tuple[Headers, bytes]]:
    """Yield the headers and the body of each part that has no parts, in order.

    A part with malformed headers is read as if it had none.

    Args:
        most: number of parts after which reading ends.
        deepest: level whose parts are not divided any more; the mail itself is level 1.

    Raises:
        MailError: ``headers-too-long`` in a part.
    """
    left = most
    stack = [iter([(headers, body)])]
    while stack and left:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
            continue
        left -= 1
        kind = content_type(first(part[0], "content-type"))
        if not kind.kind.startswith("multipart/"):
            yield part
        elif len(stack) < deepest:
            stack.append(_parts(part[1], kind.params.get("boundary", "")))


def leaves_of(raw: bytes, *, most: int, deepest: int) -> Iterator[tuple[Headers, bytes]]:
    """Yield the parts of a whole mail as `leaves` does.

    Raises:
        MailError: the header cannot be read, or that of a part is too long.
    """
    block, body = split_block(raw)
    yield from leaves(read_headers(block), body, most=most, deepest=deepest)


def _parts(body: bytes, boundary: str) -> Iterator[tuple[Headers, bytes]]:
    for block, inner in split_parts(body, boundary):
        try:
            headers = read_headers(block)
        except MailError:
            headers = {}
        yield headers, inner


def octets_of(headers: Headers, body: bytes) -> bytes:
    """Return a part's body without its transfer encoding (RFC 2045 section 6).

    Malformed encodings are decoded as far as possible.
    """
    value = first(headers, "content-transfer-encoding")  # comments may follow the word
    encoding = value.partition(";")[0].partition("(")[0].strip(" \t\"'").lower()
    if encoding == "quoted-printable":
        return binascii.a2b_qp(_PADDED_SOFT_BREAK.sub(b"=\r\n", body))
    if encoding == "base64":
        # Padding ends the data. List servers append their footers below it.
        digits = body.translate(None, _NOT_BASE64).partition(b"=")[0]
        if len(digits) % 4 == 1:
            digits = digits[:-1]
        return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
    return body
