"""Turns the headers and the two bodies of one letter into the bytes that travel.

The stdlib's `EmailMessage` takes over a millisecond for this, so the mail is
joined from strings here; what keeps that safe is that every variable part goes
through one of the checked writers below. Nothing here knows the time or draws
a random number: the same letter is always the same bytes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from pbmserv.errors import ServerFault

#: RFC 5322, 2.1.1: octets in a line without its CRLF.
_LONGEST_LINE = 998
#: Header texts of ours stay below this, so that name and brackets still fit.
_LONGEST_VALUE = 900
#: RFC 2045, 6.7 (5).
_LONGEST_QUOTED_LINE = 76
#: RFC 2047, 2 allows 75; with 64 the line `Subject: …` keeps below 76 as well.
_LONGEST_ENCODED_WORD = 64

# C0, DEL, C1 and the two Unicode line ends: none of them may reach a header.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# All that may stand in a 7bit body: RFC 5322 forbids NUL and bare CR, and a
# terminal would act upon the other controls.
_LINE_FEED = 0x0A
_PLAIN_OCTETS = bytes((0x09, 0x0A, *range(0x20, 0x7F)))

# Non-ASCII by RFC 6532, 3.2; lone surrogates are no characters. By what may not stand there, since
# a class with most of Unicode in it takes `re` 3 ms.
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
_PHRASE = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")

_QUOTED = {code: f"={code:02X}" for code in range(256)}
# RFC 2047, 5 (3): the only characters that are safe in a phrase as well.
_ENCODED_WORD_PLAIN = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """All that varies in a letter's header.

    Attributes:
        from_name: display name of the sender, any text, ``""`` for none.
        from_addr, to, reply_to: one bare address each.
        subject: any text; it is made one line.
        message_id: ours, with its angle brackets; also decides the boundary.
        in_reply_to: a message id with its angle brackets, ``None`` or ``""`` for none.
        references: message ids of the thread, oldest first.
        thread: the id of the thread's first letter, which may be this one; ``""`` for none.
        topic: what the whole thread is about; ``""`` for none.
        date: aware; written in UTC.
        x_loop: by what we know our own letters if they come back; one word.
        list_id: the identifier of RFC 2919 without angle brackets.
        list_unsubscribe: ``https:`` and ``mailto:`` URLs, the best first; with an
            ``https:`` one the one-click header of RFC 8058 is added.
        auto_submitted: RFC 3834, 5: ``auto-replied`` for an answer to a mail.
        feedback_id: for the feedback loops of large providers, ``None`` for none.
    """

    from_name: str
    from_addr: str
    to: str
    reply_to: str
    subject: str
    message_id: str
    in_reply_to: str | None
    references: tuple[str, ...]
    thread: str
    topic: str
    date: datetime
    x_loop: str
    list_id: str
    list_unsubscribe: tuple[str, ...]
    auto_submitted: Literal["auto-replied", "auto-generated"]
    feedback_id: str | None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that travels with a letter.

    Attributes:
        name: ASCII letters, digits, ``.``, ``_`` and ``-``, so that it needs no RFC 2231.
        media_type: such as ``application/json``.
        content: its octets; they arrive unchanged.
    """

    name: str
    media_type: str
    content: bytes = field(repr=False)

    def part(self) -> bytes:
        """Itself as a part of a mail (RFC 2183), in base64 lines of 76 (RFC 2045, 6.8).

        Raises:
            ServerFault: its name or type is not fit for a header.
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
    """The mail as bytes with CRLF line ends, no line over 998 octets.

    Args:
        headers: see there.
        text: the plain body, LF (or CRLF) line ends; arrives unchanged, with
            its trailing blanks and with or without a last line end.
        html: the HTML body, or ``""`` for a letter of plain text alone (an
            empty alternative would show as an empty letter).
        files: travel below the words.

    Raises:
        ServerFault: an address, our id or another word of the header is not
            one, an id anywhere holds a control character, or an attachment's
            name or type is not fit for a header.
    """
    parts = [_part("plain", text)]
    if html:
        parts.append(_part("html", html))
        parts = _multipart("alternative", headers.message_id, parts)
    if files:
        attached = [one.part() for one in files]
        parts = _multipart("mixed", headers.message_id, [b"".join(parts), *attached])
    return b"".join((_header_lines(headers).encode(), *parts))


def _multipart(subtype: str, message_id: str, parts: Sequence[bytes]) -> list[bytes]:
    """Parts in one, with the header that describes them (RFC 2046, 5.1), to be joined."""
    seed = message_id  # the same letter has the same boundary, which is in none of its parts
    while True:
        boundary = f"=-{sha256(seed.encode()).hexdigest()[:32]}"
        if not [part for part in parts if boundary.encode() in part]:
            break
        seed = boundary
    begun = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\r\n\r\n'
    pieces = [begun.encode()]
    for part in parts:
        pieces += (f"--{boundary}\r\n".encode(), part, b"\r\n")
    return [*pieces, f"--{boundary}--\r\n".encode()]


def _header_lines(headers: Headers) -> str:
    """Every header but those that describe the body."""
    if headers.date.tzinfo is None:
        raise ServerFault("the date of a letter has no time zone")
    urls = headers.list_unsubscribe
    pages = [url for url in urls if url.startswith("https:")]
    if len(pages) + len([url for url in urls if url.startswith("mailto:")]) < len(urls):
        raise ServerFault("List-Unsubscribe needs mailto: or https: addresses")
    ours = (headers.auto_submitted, headers.x_loop, headers.list_id, headers.feedback_id or "-")
    for word in (*ours, *urls):
        if not _TOKEN.fullmatch(word):
            raise ServerFault(f"not fit for a mail header: {word!r}")
    lines = [
        f"Date: {_date(headers.date.astimezone(UTC).replace(microsecond=0))}",
        f"From: {_mailbox(headers.from_name, headers.from_addr)}",
        f"To: {_address(headers.to)}",
        f"Reply-To: {_address(headers.reply_to)}",
        *_thread_lines(headers),
        f"Auto-Submitted: {headers.auto_submitted}",
        "X-Auto-Response-Suppress: All",
        f"X-Loop: {headers.x_loop}",
        f"List-Id: <{headers.list_id}>",
    ]
    if urls:  # RFC 2369 section 3.2: in brackets, with commas; the reader's program takes one
        lines.append("List-Unsubscribe: " + ",\r\n ".join([f"<{url}>" for url in urls]))
    if pages:  # RFC 8058, 3.1: both headers, and only where a POST can be taken
        lines.append("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
    if headers.feedback_id:
        lines.append(f"Feedback-ID: {headers.feedback_id}")
    lines.append("MIME-Version: 1.0\r\n")
    return "\r\n".join(lines)


_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_FILETIME_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_BEGUN = b"\x01" + (
    (_EPOCH - _FILETIME_EPOCH) // timedelta(microseconds=1) * 10 >> 16 & 0xFFFFFFFFFF
).to_bytes(5)


def _thread_lines(headers: Headers) -> list[str]:
    """What puts a letter into its thread, from ``Thread-Topic`` to ``References``.

    Outlook looks at no ``References``, and subjects of a thread differ: MS-OXOMSG section 2.2.1.3
    wants 22 octets, of which the last 16 name the conversation, and 5 for this letter's place in
    it. MS-OXCMAIL section 2.2.3.2.7: the topic is the subject's, if that comes first.

    Ids of strangers come back here, one on each line, so that folding never cuts into one. One
    that is no id by RFC 5322, 3.6.4 (bare words, blanks, 2 kB long: all seen) is left out: a
    thread that breaks is a smaller evil than a player who is never answered.
    """
    if not _MESSAGE_ID.fullmatch(headers.message_id):
        raise ServerFault(f"not a message id: {headers.message_id!r}")
    answered = headers.in_reply_to or ""
    ids = "".join((answered, *headers.references))
    if not ids.isprintable() and _CONTROL.search(ids):
        raise ServerFault(f"control character in a message id: {ids!r}")
    lines = []
    if headers.thread:
        since = (headers.date - _EPOCH) // timedelta(microseconds=1) * 10
        index = _BEGUN + sha256(headers.thread.encode()).digest()[:16]
        index += (1 << 31 | since >> 23 & 0x7FFFFFFF).to_bytes(4)
        index += sha256(headers.message_id.encode()).digest()[:1]
        lines.append(f"Thread-Topic: {_unstructured(headers.topic)}")
        lines.append(f"Thread-Index: {base64.b64encode(index).decode('ascii')}")
    lines.append(f"Subject: {_unstructured(headers.subject)}")
    lines.append(f"Message-ID: {headers.message_id}")
    if _MESSAGE_ID.fullmatch(answered):
        lines.append(f"In-Reply-To: {answered}")
    if known := "\r\n ".join(filter(_MESSAGE_ID.fullmatch, headers.references)):
        lines.append(f"References: {known}")
    return lines


_date = lru_cache(maxsize=64)(format_datetime)
"""Of a moment in UTC; letters are made in groups that were queued together."""


def _address(address: str) -> str:
    """One address as RFC 5322, 3.4.1 (and RFC 6532 for other scripts) writes it."""
    match = _ADDRESS.fullmatch(address)
    if match is None or len(address) > 320 or _CONTROL.search(address):
        raise ServerFault(f"not a mail address: {address!r}")
    if match["dots"]:
        # Some providers gave out `name.@…`; in a header that needs quotes.
        return f'"{match["dots"]}"@{match["domain"]}'
    return address


@lru_cache(maxsize=16)  # nearly always the server's own
def _mailbox(name: str, address: str) -> str:
    shown = _unstructured(name)
    if not shown:
        return _address(address)
    if "=?" in shown:
        return f"{shown}\r\n <{_address(address)}>"
    if not _PHRASE.fullmatch(shown):
        escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
        shown = f'"{escaped}"'
    return f"{shown} <{_address(address)}>"


def _unstructured(text: str) -> str:
    """A display text without line ends and other control characters, as a header carries it.

    `=?` would be read as the start of an encoded word. A long text is encoded
    because encoded words may be folded anywhere, also where there is no blank.
    """
    # What can be printed has no control character, and nearly all texts of ours are such.
    shown = text.strip() if text.isprintable() else _CONTROL.sub(" ", text).strip()
    is_plain = shown.isascii() and "=?" not in shown and len(shown) <= _LONGEST_VALUE // 2
    return shown if is_plain else _encoded_words(shown)


def _encoded_words(shown: str) -> str:
    """RFC 2047 encoded words, one on each line, no character cut in two."""
    room = _LONGEST_ENCODED_WORD - len("=?utf-8?q??=")
    words: list[str] = []
    word = ""
    for character in shown:
        if character in _ENCODED_WORD_PLAIN:
            quoted = character
        elif character == " ":
            quoted = "_"
        else:
            quoted = "".join(map(_QUOTED.__getitem__, character.encode("utf-8", "replace")))
        if len(word) + len(quoted) > room:
            words.append(word)
            word = ""
        word += quoted
    words.append(word)
    return "\r\n ".join(f"=?utf-8?q?{word}?=" for word in words)


def _part(subtype: str, body: str) -> bytes:
    """One body with the headers that describe it.

    A letter is long, and most of what is looked for here is faster found in octets.
    """
    octets = body.encode("utf-8", "replace")
    if b"\r" in octets:
        # A bare CR in a mail is how messages are smuggled; it ends a line here.
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
    """Whether 7bit will do for text without other octets.

    Boards end in blanks, and a few old gateways strip those from 7bit lines.
    They stay 7bit nevertheless: a stripped blank at the end of a line changes
    nothing that can be seen, while `=20` at the end of every board line would
    spoil the mail for those who read it raw or with a small script. A line that
    begins with `From ` is another matter: mbox stores write `>From ` for good.
    """
    at = octets.find(b"F")  # one octet is found ten times as fast as two
    while at >= 0:
        if octets.startswith(b"From ", at) and (at == 0 or octets[at - 1] == _LINE_FEED):
            return False
        at = octets.find(b"F", at + 1)
    at, length = 0, len(octets)
    while length - at > _LONGEST_LINE:  # one line in a thousand octets is looked at
        at = octets.rfind(b"\n", at, at + _LONGEST_LINE + 1) + 1
        if not at:
            return False
    return True


def _quoted_printable(octets: bytes) -> str:
    """RFC 2045, 6.7 with CRLF."""
    octets = octets.replace(b"=", b"=3D")
    # A text uses few different octets that need quoting; replacing each of them
    # is five times faster than a table looked up for every character.
    for code in set(octets.translate(None, _PLAIN_OCTETS)):
        octets = octets.replace(bytes((code,)), _QUOTED[code].encode())
    return "\r\n".join(map(_quoted_line, octets.decode("ascii").split("\n")))


def _quoted_line(line: str) -> str:
    """One line: its last blank quoted, soft breaks where it is too long."""
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
    """The line with a first character that neither mbox nor SMTP takes for its own."""
    if line.startswith(("From ", ".")):
        return _QUOTED[ord(line[0])] + line[1:]
    return line
