"""Header fields and parts of a mail (RFC 5322, MIME), read without trusting a byte of them.

The standard library's parser takes a line without a colon for the start of the
body, keeps forged lines apart by other rules than mail servers do, and its
decoder of encoded words is quadratic; this reader is strict and linear instead.
Parts come one after the other and nothing is built in advance, so a caller can
count them and stop. An address that could be read in two ways is refused.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from pbmserv.errors import MailError
from pbmserv.inbound.text import clean, decode
from pbmserv.mail import reading_time

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


# -- the address in a From field ---------------------------------------------------------------


ADDRESS_LIMIT = 254
"""Octets of an address that SMTP can carry (RFC 5321 section 4.5.3.1.3, less the brackets)."""

_LOCAL_LIMIT = 64
_ATEXT = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ASCII = re.compile(rf"\.*[{_ATEXT}][{_ATEXT}.]*@(?:{_LABEL}\.)*{_LABEL}")
"""Dots may stand anywhere in the local part: some providers gave out ``a..b`` and ``a.``."""
_NEEDLESS_QUOTES = re.compile(r'"([^"\\\s@<>(),:;]+)"(?=@)')
"""A quoted local part that means the same without quotes (RFC 5321 section 4.1.2)."""

_USUAL = re.compile(
    r"""(?P<open>(?:[^"(<,;:)>\\@]|"[^"\\]*")*<)?(?P<address>[^\s"(<,;:)>\\]+)(?(open)>)\s*"""
)
"""``Name <address>``, ``"Na, me" <address>`` or an address alone."""
_ORDINARY = re.compile(r'[^"(<,;:)>\\]+')
_QUOTED_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')
_COMMENT_MARK = re.compile(r"[()\\]")


def one_mailbox(value: str) -> str:
    """Return the address of the one mailbox in `value` (RFC 5322 section 3.4), its domain in lower
    case, in NFC.

    The local part has atoms and dots, in any order and with or without quotes. Letters beyond ASCII
    are accepted (RFC 6531); other quoted local parts, address literals and encoded words are not.

    Raises:
        MailError: ``several-from`` for a list or a group, ``bad-from`` for anything
            that is no mailbox, or that another reader may take for another address.
    """
    usual = _USUAL.fullmatch(value)
    phrase, text = ("", usual["address"]) if usual is not None else _split(value)
    if text.startswith('"'):
        text = _NEEDLESS_QUOTES.sub(r"\1", text, count=1)
    text = text if text.isascii() else _international(text)
    local, _, domain = text.rpartition("@")
    if text.isascii() and (len(text) > ADDRESS_LIMIT or not _ASCII.fullmatch(text)):
        raise MailError("bad-from")
    if "=?" in local or domain.rpartition(".")[2].isdigit():
        raise MailError("bad-from")
    if len(local.encode()) > _LOCAL_LIMIT:
        raise MailError("bad-from")
    address = f"{local}@{domain.lower()}"
    # An address in the phrase is what some readers would take. Harmless if it is the same.
    if "@" in phrase and phrase.lower() != address.lower():
        raise MailError("bad-from")
    return address


def _international(text: str) -> str:
    """An address with letters beyond ASCII, in NFC, checked as far as ASCII rules go."""
    if len(text) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    text = unicodedata.normalize("NFC", text)
    # Every letter beyond ASCII stands for itself; the rest must be an ASCII address.
    if any("\ud800" <= char <= "\udfff" or not char.isprintable() for char in text):
        raise MailError("bad-from")
    skeleton = "".join(char if char.isascii() else "x" if _lettery(char) else " " for char in text)
    if not _ASCII.fullmatch(skeleton) or len(text.encode()) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    return text


def _lettery(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def _split(value: str) -> tuple[str, str]:
    """Return the texts before and in the angle brackets, without comments.

    Without brackets the first text is empty and the second one is everything.
    """
    before: list[str] = []
    after: list[str] = []
    angle: str | None = None
    at = 0
    while at < len(value):
        part = before if angle is None else after
        char = value[at]
        if char == '"':
            end = _end(_QUOTED_END.match(value, at + 1))
            is_local = angle is None and value.startswith("@", end)
            part.append(value[at:end] if is_local else '"')  # a name is never looked into
        elif char == "(":
            end = _comment_end(value, at)
        elif char == "<":
            end = value.find(">", at) + 1
            if angle is not None or not end:
                raise MailError("bad-from")
            angle = value[at + 1 : end - 1]
        elif char in ",;:":
            raise MailError("several-from")
        else:
            end = _end(_ORDINARY.match(value, at))
            part.append(value[at:end])
        at = end
    if "".join(after).strip():
        raise MailError("bad-from")
    phrase = "".join(before).strip()
    return ("", phrase) if angle is None else (phrase, angle.strip())


def _end(match: re.Match[str] | None) -> int:
    if match is None:
        raise MailError("bad-from")
    return match.end()


def _comment_end(value: str, at: int) -> int:
    """Where the comment ends that opens at `at` (comments nest)."""
    depth = 0
    while at < len(value):
        mark = _COMMENT_MARK.search(value, at)
        if mark is None:
            break
        at = mark.end() + (mark[0] == "\\")
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return at
    raise MailError("bad-from")
