"""Builds the bytes of a letter from its headers and bodies.

`EmailMessage` of the standard library takes over a millisecond, so the mail is joined from strings
here. Each variable part passes one of the checks below. The same letter is always the same bytes:
nothing here reads a clock or draws a random number.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.charset import QP, Charset
from email.header import Header
from email.utils import format_datetime
from hashlib import sha256
from typing import Literal

from pbmserv.errors import ServerFault

_LONGEST_LINE = 998
"""Octets in a line without its CRLF (RFC 5322, 2.1.1)."""
_LONGEST_VALUE = 900
"""Characters of a header's text, with room for its name and brackets."""
_LONGEST_QUOTED_LINE = 76
"""Characters of a line in quoted-printable (RFC 2045, 6.7 (5))."""
_LONGEST_HEADER_LINE = 76
"""Characters of a line with an encoded word (RFC 2047, 2)."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""C0, DEL, C1 and the two line ends of Unicode, which must not reach a header."""
_PLAIN_OCTETS = bytes((0x09, 0x0A, *range(0x20, 0x7F)))
"""Octets of a 7bit body. RFC 5322 forbids NUL and bare CR, and terminals obey other controls."""

# Non-ASCII by RFC 6532, 3.2; lone surrogates are not characters. The class lists what is forbidden:
# one that lists most of Unicode takes `re` 3 ms to compile.
_NO_ATEXT = r'\x00-\x20"(),:;<>@\[\\\]\x7f-\u00a0\ud800-\udfff'
_WORD = rf"[^.{_NO_ATEXT}]+"
_DOMAIN = rf"{_WORD}(?:\.{_WORD})*|\[[\x21-\x5a\x5e-\x7e]+\]"
_ADDRESS = re.compile(
    rf"(?:{_WORD}(?:\.{_WORD})*"
    r'|"(?:[^"\\\ud800-\udfff]|\\[ -~])*"'
    rf"|(?P<dots>[^{_NO_ATEXT}]+))@(?P<domain>{_DOMAIN})"
)
_MESSAGE_ID = re.compile(rf"<[\x21-\x3b\x3d\x3f-\x7e]{{1,{_LONGEST_VALUE}}}>")
_TOKEN = re.compile(rf"[\x21-\x3b\x3d\x3f-\x7e]{{1,{_LONGEST_VALUE}}}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]{0,60}")

_QUOTED = {code: f"={code:02X}" for code in range(256)}
_UTF_8 = Charset("utf-8")
_UTF_8.header_encoding = QP


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """The variable parts of a letter's header.

    Attributes:
        server: address of the server. ``X-Loop`` has it, too, by which the server recognises its
            own letters.
        to: address of the reader.
        reply_to: address for answers.
        subject: any text; it is written in one line.
        message_id: id of the letter in angle brackets; it also determines the boundary.
        in_reply_to: an id in angle brackets; "" for none.
        references: ids of the thread, oldest first.
        thread: id of the thread's first letter, which may be this one; "" for none.
        topic: topic of the thread; "" for none.
        date: an aware moment, which is written in UTC.
        list_id: the identifier of RFC 2919 without angle brackets.
        list_unsubscribe: ``https:`` and ``mailto:`` URLs, the best first. With an ``https:`` URL
            the one-click header of RFC 8058 is added.
        auto_submitted: ``auto-replied`` for an answer to a mail (RFC 3834 section 5).
        feedback_id: a word for the feedback loops of large providers.
        is_brief: whether to write only the headers without which no mail arrives, is answered or
            ends a loop.
        records: values of ``Pbmserv-Record``, folded, with the hashes of boards.
    """

    server: str
    to: str
    reply_to: str
    subject: str
    message_id: str
    in_reply_to: str
    references: tuple[str, ...]
    thread: str
    topic: str
    date: datetime
    list_id: str
    list_unsubscribe: tuple[str, ...]
    auto_submitted: Literal["auto-replied", "auto-generated"]
    feedback_id: str
    is_brief: bool = False
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that travels with a letter.

    Attributes:
        name: ASCII letters, digits, ``.``, ``_`` and ``-``, so that RFC 2231 is not needed.
        media_type: a type such as ``application/json``.
        content: the octets, which arrive unchanged.
    """

    name: str
    media_type: str
    content: bytes = field(repr=False)

    def part(self) -> bytes:
        """Return the file as a part of a mail (RFC 2183), in base64 (RFC 2045, 6.8).

        Raises:
            ServerFault: its name or type is not allowed in a header.
        """
        if not (_FILE_NAME.fullmatch(self.name) and _MEDIA_TYPE.fullmatch(self.media_type)):
            raise ServerFault(f"not fit for an attachment: {self.name!r}, {self.media_type!r}")
        header = (
            f"Content-Type: {self.media_type}\r\n"
            f'Content-Disposition: attachment; filename="{self.name}"\r\n'
            "Content-Transfer-Encoding: base64\r\n\r\n"
        )
        return header.encode() + base64.encodebytes(self.content).replace(b"\n", b"\r\n")


def build(headers: Headers, text: str, html: str, files: Sequence[Attachment] = ()) -> bytes:
    """Return the mail as bytes with CRLF line ends, in lines of at most 998 octets.

    Args:
        headers: the variable parts of the header.
        text: the plain body with LF or CRLF line ends. It arrives unchanged, with trailing blanks
            and with or without a last line end.
        html: the HTML body; "" for plain text alone.
        files: attachments.

    Raises:
        ServerFault: an address, the Message-ID or another word of the header is malformed, an id
            has a control character, or the name or type of an attachment is not allowed.
    """
    parts = [_part("plain", text)]
    if html:
        parts.append(_part("html", html))
        parts = _multipart("alternative", headers.message_id, parts)
    if files:
        attached = [file.part() for file in files]
        parts = _multipart("mixed", headers.message_id, [b"".join(parts), *attached])
    return b"".join((_header_lines(headers).encode(), *parts))


def _multipart(subtype: str, message_id: str, parts: Sequence[bytes]) -> list[bytes]:
    """Return the pieces of one part that contains these parts (RFC 2046, 5.1)."""
    seed = message_id  # so the same letter has the same boundary
    while True:
        boundary = f"=-{sha256(seed.encode()).hexdigest()[:32]}"
        if not [part for part in parts if boundary.encode() in part]:
            break
        seed = boundary
    header = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\r\n\r\n'
    pieces = [header.encode()]
    for part in parts:
        pieces += (f"--{boundary}\r\n".encode(), part, b"\r\n")
    return [*pieces, f"--{boundary}--\r\n".encode()]


def _header_lines(headers: Headers) -> str:
    """Return all headers but those that describe the body."""
    if headers.date.tzinfo is None:
        raise ServerFault("the date of a letter has no time zone")
    urls = headers.list_unsubscribe
    pages = [url for url in urls if url.startswith("https:")]
    if len(pages) + len([url for url in urls if url.startswith("mailto:")]) < len(urls):
        raise ServerFault("List-Unsubscribe needs mailto: or https: addresses")
    _check_ids(headers)
    server = _address(headers.server)
    for word in (headers.auto_submitted, headers.list_id, headers.feedback_id, server, *urls):
        if not _TOKEN.fullmatch(word):
            raise ServerFault(f"not fit for a mail header: {word!r}")
    lines = [
        f"Date: {format_datetime(headers.date.astimezone(UTC))}",
        f"From: {server}" if headers.is_brief else f"From: pbmserv <{server}>",
        f"To: {_address(headers.to)}",
        f"Reply-To: {_address(headers.reply_to)}",
        *(_subject_and_id(headers) if headers.is_brief else _thread_lines(headers)),
        f"Auto-Submitted: {headers.auto_submitted}",
        f"X-Loop: {server}",
    ]
    if not headers.is_brief:
        lines += ["X-Auto-Response-Suppress: All", f"List-Id: <{headers.list_id}>"]
        if urls:  # RFC 2369 section 3.2: in brackets, separated by commas
            lines.append("List-Unsubscribe: " + ",\r\n ".join([f"<{url}>" for url in urls]))
        if pages:  # RFC 8058, 3.1: only with a page that accepts a POST
            lines.append("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
        lines.append(f"Feedback-ID: {headers.feedback_id}")
    lines += [f"Pbmserv-Record: {record}" for record in headers.records]
    lines.append("MIME-Version: 1.0\r\n")
    return "\r\n".join(lines)


def _check_ids(headers: Headers) -> None:
    """Check the ids of a letter.

    Raises:
        ServerFault: its own is malformed, or another one has a control character.
    """
    if not _MESSAGE_ID.fullmatch(headers.message_id):
        raise ServerFault(f"not a message id: {headers.message_id!r}")
    ids = "".join((headers.in_reply_to, *headers.references))
    if not ids.isprintable() and _CONTROL.search(ids):
        raise ServerFault(f"control character in a message id: {ids!r}")


def _subject_and_id(headers: Headers) -> list[str]:
    return [
        f"Subject: {_unstructured(headers.subject)}",
        f"Message-ID: {headers.message_id}",
    ]


def _thread_lines(headers: Headers) -> list[str]:
    """Return the headers that put a letter into its thread, ``Thread-Topic`` to ``References``.

    Outlook ignores ``References``, and the subjects of a thread differ, so it gets a topic and an
    index. By MS-OXCMAIL section 2.2.3.2.7 a topic in front of the subject counts.

    Ids of strangers have a line each, so that folding never cuts one. An id that RFC 5322, 3.6.4
    does not allow (players' programs write bare words, blanks, and ids of 2 kB) is left out: the
    thread breaks, but the player is answered.
    """
    lines = []
    if headers.thread:
        lines.append(f"Thread-Topic: {_unstructured(headers.topic)}")
        lines.append(f"Thread-Index: {_thread_index(headers)}")
    lines += _subject_and_id(headers)
    if _MESSAGE_ID.fullmatch(headers.in_reply_to):
        lines.append(f"In-Reply-To: {headers.in_reply_to}")
    if references := "\r\n ".join(filter(_MESSAGE_ID.fullmatch, headers.references)):
        lines.append(f"References: {references}")
    return lines


_THREADS_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
"""The time at which all our threads claim to have begun, so that a thread has one index."""
_FILETIME_BEGINS = datetime(1601, 1, 1, tzinfo=UTC)


def _ticks(span: timedelta) -> int:
    """Return a span in units of 100 ns, in which Windows counts."""
    return span // timedelta(microseconds=1) * 10


def _thread_index(headers: Headers) -> str:
    """Return the place of a letter in its thread, as Outlook counts (MS-OXOMSG section 2.2.1.3).

    The first 22 octets are a 1, the time at which the thread began, and 16 octets that name it.
    Then come 5 octets for the letter: 31 bits of the time since then, and one octet of chance.
    """
    began = _ticks(_THREADS_BEGIN - _FILETIME_BEGINS)
    since = _ticks(headers.date - _THREADS_BEGIN)
    index = b"\x01" + ((began >> 16) & 0xFFFFFFFFFF).to_bytes(5)
    index += sha256(headers.thread.encode()).digest()[:16]
    index += ((1 << 31) | ((since >> 23) & 0x7FFFFFFF)).to_bytes(4)
    index += sha256(headers.message_id.encode()).digest()[:1]
    return base64.b64encode(index).decode("ascii")


def _address(address: str) -> str:
    """Return an address as RFC 5322, 3.4.1 writes it, and RFC 6532 for other scripts."""
    match = _ADDRESS.fullmatch(address)
    if match is None or len(address) > 320 or _CONTROL.search(address):
        raise ServerFault(f"not a mail address: {address!r}")
    if match["dots"]:
        # Some providers have addresses such as `name.@…`, which need quotes in a header.
        return f'"{match["dots"]}"@{match["domain"]}'
    return address


def _unstructured(text: str) -> str:
    """Return a text as a header carries it, without line ends and other control characters.

    A text with ``=?`` is encoded, since that begins an encoded word. A long text is encoded, too,
    since encoded words can be folded where there is no blank.
    """
    # Printable text has no control characters, and nearly all texts are printable.
    shown = text.strip() if text.isprintable() else _CONTROL.sub(" ", text).strip()
    is_plain = shown.isascii() and "=?" not in shown and len(shown) <= _LONGEST_VALUE // 2
    return shown if is_plain else _encoded_words(shown)


def _encoded_words(shown: str) -> str:
    """Return the encoded words of RFC 2047, one on each line, without cutting a character."""
    storable = shown.encode("utf-8", "replace").decode()
    header = Header(storable, _UTF_8, _LONGEST_HEADER_LINE, header_name="Thread-Topic")
    return header.encode(linesep="\r\n")


def _part(subtype: str, body: str) -> bytes:
    """Return a body with the headers that describe it."""
    octets = body.encode("utf-8", "replace")
    if b"\r" in octets:
        # A bare CR can smuggle a second message past a relay; it becomes a line end.
        octets = octets.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not octets.translate(None, _PLAIN_OCTETS) and _has_usual_lines(octets):
        return (
            f"Content-Type: text/{subtype}; charset=us-ascii\r\n"
            "Content-Transfer-Encoding: 7bit\r\n\r\n"
        ).encode() + octets.replace(b"\n", b"\r\n")
    return (
        f"Content-Type: text/{subtype}; charset=utf-8\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        f"{_quoted_printable(octets)}"
    ).encode()


def _has_usual_lines(octets: bytes) -> bool:
    """Return whether text of plain octets can be sent as 7bit.

    Lines must be short, and none may begin with ``From ``, which mbox stores change to ``>From ``.
    Lines of boards end in blanks, which a few old gateways strip. They are sent as 7bit
    nevertheless: nobody sees such a blank, but ``=20`` would spoil the mail for people and scripts
    that read it raw.
    """
    lines = octets.split(b"\n")
    return max(map(len, lines)) <= _LONGEST_LINE and b"\nFrom " not in b"\n" + octets


def _quoted_printable(octets: bytes) -> str:
    """Return quoted-printable text (RFC 2045, 6.7) with CRLF line ends."""
    octets = octets.replace(b"=", b"=3D")
    # Few different octets need quotes. To replace each is five times faster than a table.
    for code in set(octets.translate(None, _PLAIN_OCTETS)):
        octets = octets.replace(bytes((code,)), _QUOTED[code].encode())
    return "\r\n".join(map(_quoted_line, octets.decode("ascii").split("\n")))


def _quoted_line(line: str) -> str:
    """Return a line with its last blank quoted, and with soft breaks if it is too long."""
    if line.endswith((" ", "\t")):
        line = line[:-1] + _QUOTED[ord(line[-1])]
    pieces: list[str] = []
    line = _safe_start(line)
    while len(line) > _LONGEST_QUOTED_LINE:
        cut = _LONGEST_QUOTED_LINE - 1
        if "=" in line[cut - 2 : cut]:
            cut = line.rindex("=", 0, cut)
        pieces.append(line[:cut] + "=")
        line = _safe_start(line[cut:])
    pieces.append(line)
    return "\r\n".join(pieces)


def _safe_start(line: str) -> str:
    """Return the line with a first character that means nothing to mbox or SMTP."""
    if line.startswith(("From ", ".")):
        return _QUOTED[ord(line[0])] + line[1:]
    return line
