"""Reads header fields (RFC 5322, MIME) strictly, and in linear time.

The standard library's parser begins the body at a line without a colon, separates lines by other
rules than mail servers, and decodes encoded words in quadratic time. So a stranger could forge
fields that other readers do not see.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from pbmserv.errors import MailError
from pbmserv.inbound.text import clean, decode

HEADER_LIMIT = 64 * 1024
"""Octets of the header block of a mail or of a part."""

Headers = Mapping[str, Sequence[str]]
"""Field values by field name in lower case, in the order of the mail; unfolded.

Octets that are not UTF-8 are surrogates in them (PEP 383).
"""

# Characters that are read. No mail client writes more.
_SUBJECT_LIMIT = 2_000
_CONTENT_TYPE_LIMIT = 1_000

# RFC 2047 section 2; it forbids blanks inside the text, but some programs write them.
_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,80})\?([bBqQ])\?([^?]*)\?=")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)')
# RFC 2231 sections 3 and 4: name*0, name*1*, name*
_PIECE = re.compile(r"([^*]+)(?=\*)(?:\*([0-9]{1,3}))?(\*?)")
_QUOTED_PAIR = re.compile(r"\\(.)")


def split_block(raw: bytes) -> tuple[bytes, bytes]:
    """Return the header block and the body, without the empty line between them.

    Raises:
        MailError: ``headers-too-long``.
    """
    if raw.startswith(b"\r\n"):
        return b"", raw[2:]
    end = raw.find(b"\r\n\r\n")
    if end < 0:
        block, body = raw, b""
    else:
        block, body = raw[:end], raw[end + 4 :]
    if len(block) > HEADER_LIMIT:
        raise MailError("headers-too-long")
    return block, body


def read_headers(block: bytes) -> Headers:
    """Return the fields of a header block with CRLF lines (RFC 5322 section 2.2).

    Raises:
        MailError: ``bad-header`` for a line that is not a field. Other readers begin the body at
            such a line, so the rest could be read in two ways.
    """
    # RFC 5322 section 2.2.3: unfolding removes the CRLF and keeps the blank.
    text = block.decode("utf-8", "surrogateescape")
    if "\r\n " in text or "\r\n\t" in text:
        text = text.replace("\r\n ", " ").replace("\r\n\t", "\t")
    if text.startswith("From ") and not text[5:].lstrip(" \t").startswith(":"):
        text = text.partition("\r\n")[2]  # the separator line of an mbox file
    fields: dict[str, list[str]] = {}
    for line in text.split("\r\n"):
        name, colon, value = line.partition(":")
        # "From : x" is obsolete syntax (section 4.5) for a From field.
        name = name.rstrip(" \t")
        if not colon or not name or not name.isascii():
            if not line:
                continue
            raise MailError("bad-header")
        name = name.lower()
        if name in fields:
            fields[name].append(value.strip(" \t"))
        else:
            fields[name] = [value.strip(" \t")]
    names = "".join(fields)
    if " " in names or not names.isprintable():
        raise MailError("bad-header")
    return fields


def first(headers: Headers, name: str) -> str:
    """Return the first value of a field (name in lower case); ``""`` for none."""
    values = headers.get(name)
    return values[0] if values else ""


_COMMENT_MARK = re.compile(r"[()\\]")


def comment_end(value: str, at: int) -> int:
    """Return the end of the comment that begins at *at* (comments nest); -1 if it is open."""
    depth = 0
    while (mark := _COMMENT_MARK.search(value, at)) is not None:
        at = mark.end() + (mark[0] == "\\")
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return at
    return -1


def readable_value(value: str) -> str:
    """Return a field's value as people read it, without encoded words and control characters.

    Reads at most 2,000 characters of `value`. Never raises.
    """
    value = value[:_SUBJECT_LIMIT]
    if not value.isascii():
        value = decode(value.encode("utf-8", "surrogateescape"), "utf-8")
    if "=?" in value:
        value = _decode_words(value)
    return _CONTROL.sub(" ", value).strip()


def _decode_words(value: str) -> str:
    """Decode the encoded words (RFC 2047) of a value; malformed ones are kept as they are."""
    decoded: list[str] = []
    pending: list[bytes] = []  # a character may be split between two words of one charset
    charset = ""
    at = 0
    for match in _ENCODED_WORD.finditer(value):
        octets = _word_octets(match[2], match[3])
        if octets is None:
            continue
        between = value[at : match.start()]
        word_charset = match[1].partition("*")[0].lower()  # RFC 2231 section 5: charset*language
        # RFC 2047 section 6.2: blanks between two encoded words are not shown.
        is_adjacent = bool(pending) and (not between or between.isspace())
        if not is_adjacent or word_charset != charset:
            decoded.append(decode(b"".join(pending), charset))
            pending = []
        if not is_adjacent:
            decoded.append(between)
        pending.append(octets)
        charset = word_charset
        at = match.end()
    decoded.append(decode(b"".join(pending), charset))
    decoded.append(value[at:])
    return clean("".join(decoded))


def _word_octets(encoding: str, text: str) -> bytes | None:
    octets = text.encode("utf-8")
    if encoding in "qQ":
        return binascii.a2b_qp(octets, header=True)
    try:
        return binascii.a2b_base64(octets + b"==")
    except binascii.Error:
        return None


@dataclass(frozen=True, slots=True)
class ContentType:
    """A Content-Type field (RFC 2045 section 5.1).

    Attributes:
        kind: the media type in lower case, such as ``"text/plain"``.
        params: unquoted parameters by name in lower case.
    """

    kind: str = "text/plain"
    params: Mapping[str, str] = field(default_factory=dict)

    def param(self, name: str) -> str:
        """Return a parameter in lower case; ``""`` for none."""
        return self.params.get(name, "").lower()


def content_type(value: str) -> ContentType:
    """Read a Content-Type or Content-Disposition value; a malformed one is text/plain."""
    value = value[:_CONTENT_TYPE_LIMIT]
    kind = value.partition(";")[0].partition("(")[0].strip().lower()
    if "/" not in kind or " " in kind:
        kind = "text/plain"
    params: dict[str, str] = {}
    pieces: dict[str, dict[int, str]] = {}
    for name, raw in _PARAMETER.findall(value):
        is_quoted = raw.startswith('"')
        text = _QUOTED_PAIR.sub(r"\1", raw[1:].removesuffix('"')) if is_quoted else raw
        piece = _PIECE.fullmatch(name.lower())
        if piece is None:
            params.setdefault(name.lower(), text)
            continue
        number = int(piece[2] or 0)
        text = _percent_decoded(text, number) if piece[3] else text
        pieces.setdefault(piece[1], {}).setdefault(number, text)
    for name, numbered in pieces.items():
        params[name] = "".join(numbered[number] for number in sorted(numbered))
    return ContentType(kind, params)


def disposition_of(headers: Headers) -> ContentType:
    """Return the parameters of a part's Content-Disposition (RFC 2183); `kind` is meaningless."""
    return content_type(first(headers, "content-disposition"))


def _percent_decoded(text: str, number: int) -> str:
    """Decode a piece of a parameter (RFC 2231 section 4); the first one names the charset."""
    charset = ""
    if number == 0 and text.count("'") > 1:
        charset, _, text = text.split("'", 2)
    return decode(unquote_to_bytes(text.encode("utf-8", "replace")), charset)
