"""Header fields and parts of a mail (RFC 5322, MIME), read without trusting a byte of them.

The standard library's parser takes a line without a colon for the start of the
body, keeps forged lines apart by other rules than mail servers do, and its
decoder of encoded words is quadratic; this reader is strict and linear instead.
Parts come one after the other and nothing is built in advance, so a caller can
count them and stop. The Received fields say which network a mail comes from.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from pbmserv.errors import MailError
from pbmserv.inbound.text import clean, decode
from pbmserv.mail.envelope import LOOPBACK, Envelope, Network, Source, block_name, is_among

HEADER_LIMIT = 64 * 1024
"""Octets that the header block of a mail, or of one part, may have."""

Headers = Mapping[str, Sequence[str]]
"""Field values by field name in lower case, in the order of the mail; unfolded.

Octets that are not UTF-8 stand in them as surrogates (PEP 383).
"""

# Both are cut before they are looked at closely: what is longer is no mail client's work.
_SUBJECT_LIMIT = 2_000
_CONTENT_TYPE_LIMIT = 1_000

# RFC 2047 section 2; blanks inside the text are wrong there but seen.
_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,80})\?([bBqQ])\?([^?]*)\?=")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)')
# RFC 2231 sections 3 and 4: name*0, name*1*, name*
_PIECE = re.compile(r"([^*]+)(?=\*)(?:\*([0-9]{1,3}))?(\*?)")
_QUOTED_PAIR = re.compile(r"\\(.)")


def split_block(raw: bytes) -> tuple[bytes, bytes]:
    """The header block and the body of `raw`, without the empty line between.

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
    """The fields of a header block with CRLF lines (RFC 5322 section 2.2).

    Raises:
        MailError: ``bad-header`` for a line that is no field. Other readers
            begin the body there, so what follows could be read in two ways.
    """
    # RFC 5322 section 2.2.3: unfolding takes away the CRLF and leaves the blank.
    text = block.decode("utf-8", "surrogateescape")
    if "\r\n " in text or "\r\n\t" in text:
        text = text.replace("\r\n ", " ").replace("\r\n\t", "\t")
    if text.startswith("From ") and not text[5:].lstrip(" \t").startswith(":"):
        text = text.partition("\r\n")[2]  # the separator line of an mbox file
    fields: dict[str, list[str]] = {}
    for line in text.split("\r\n"):
        name, colon, value = line.partition(":")
        # "From : x" is obsolete syntax (section 4.5) but must count as a From.
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
    """The first value of the field `name` (lower case), ``""`` if there is none."""
    values = headers.get(name)
    return values[0] if values else ""


def one_line(value: str) -> str:
    """A field's value as people read it: encoded words decoded, no control characters.

    At most 2,000 characters of `value` are looked at. Never raises.
    """
    value = value[:_SUBJECT_LIMIT]
    if not value.isascii():
        value = decode(value.encode("utf-8", "surrogateescape"), "utf-8")
    if "=?" in value:
        value = _decode_words(value)
    return _CONTROL.sub(" ", value).strip()


def _decode_words(value: str) -> str:
    """`value` with its encoded words (RFC 2047) decoded; broken ones stay as they are."""
    done: list[str] = []
    pending: list[bytes] = []  # words of one charset may share a character between them
    charset = ""
    at = 0
    for match in _ENCODED_WORD.finditer(value):
        octets = _word_octets(match[2], match[3])
        if octets is None:
            continue
        between = value[at : match.start()]
        named = match[1].partition("*")[0].lower()  # RFC 2231 section 5: charset*language
        # RFC 2047 section 6.2: blanks between two encoded words are not shown.
        adjacent = bool(pending) and (not between or between.isspace())
        if not adjacent or named != charset:
            done.append(decode(b"".join(pending), charset))
            pending = []
        if not adjacent:
            done.append(between)
        pending.append(octets)
        charset = named
        at = match.end()
    done.append(decode(b"".join(pending), charset))
    done.append(value[at:])
    return clean("".join(done))


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
        kind: ``"text/plain"`` and the like, in lower case.
        params: parameters by name in lower case, unquoted.
    """

    kind: str = "text/plain"
    params: Mapping[str, str] = field(default_factory=dict)

    def param(self, name: str) -> str:
        """The parameter `name` in lower case, ``""`` if it is not given."""
        return self.params.get(name, "").lower()


def content_type(value: str) -> ContentType:
    """Read a Content-Type or Content-Disposition value; what makes no sense is text/plain."""
    return _content_type(value[:_CONTENT_TYPE_LIMIT])


def disposition_of(headers: Headers) -> ContentType:
    """A part's Content-Disposition (RFC 2183); its `kind` says nothing."""
    return content_type(first(headers, "content-disposition"))


@lru_cache(maxsize=256)
def _content_type(value: str) -> ContentType:
    kind = value.partition(";")[0].partition("(")[0].strip().lower()
    if "/" not in kind or " " in kind:
        kind = "text/plain"
    params: dict[str, str] = {}
    pieces: dict[str, dict[int, str]] = {}
    for name, given in _PARAMETER.findall(value):
        text = (
            _QUOTED_PAIR.sub(r"\1", given[1:].removesuffix('"')) if given.startswith('"') else given
        )
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


def _percent_decoded(text: str, number: int) -> str:
    """A piece that is encoded (RFC 2231 section 4); the first one names its charset."""
    charset = ""
    if number == 0 and text.count("'") > 1:
        charset, _, text = text.split("'", 2)
    return decode(unquote_to_bytes(text.encode("utf-8", "replace")), charset)


# -- the parts of a MIME body ------------------------------------------------------------------


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


def octets_of(headers: Headers, body: bytes) -> bytes:
    """A part's `body` without its transfer encoding, as far as it can be read (RFC 2045, 6)."""
    value = first(headers, "content-transfer-encoding")  # comments and marks may stand behind it
    encoding = value.partition(";")[0].partition("(")[0].strip(" \t\"'").lower()
    if encoding == "quoted-printable":
        return binascii.a2b_qp(_PADDED_SOFT_BREAK.sub(b"=\r\n", body))
    if encoding == "base64":
        # Padding ends it: what list servers append below is not ours to decode.
        digits = body.translate(None, _NOT_BASE64).partition(b"=")[0]
        if len(digits) % 4 == 1:
            digits = digits[:-1]
        return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
    return body


# -- where a mail comes from -------------------------------------------------------------------

# Each mail server writes a Received field on top of those that are there (RFC 5321 section 4.4),
# so the topmost one is our own server's word about its client. If that client is one of our
# servers, too (or a filter beside it), the next field is that one's word; all others are a
# stranger's.

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
    network, raw = block_name(envelope.peer), envelope.raw
    if envelope.handed_on or not network or is_among(envelope.peer, ours):
        network = ""  # unless a field names the client of our outermost server
        end = raw.find(b"\r\n\r\n", 0, HEADER_LIMIT)
        fields = _RECEIVED.finditer(raw, 0, end if end >= 0 else min(len(raw), HEADER_LIMIT))
        for received, _ in zip(fields, range(MOST_SERVERS), strict=False):
            text = received[1].decode("latin-1")
            found = _BESIDE_NAME.match(text) or _ALONE.match(text)
            if found is None:
                break
            if not (is_among(found[1], LOOPBACK) or is_among(found[1], ours)):
                network = block_name(found[1])
                break
    return Source(network, envelope.sender.lower())
