"""Mails made to be slow: the time to read one, how it grows with the size, and its memory.

`python -m tests.hostile.crafted [OCTETS]` prints a line of JSON for each. `test_crafted_mails.py`
reads it.
"""

from __future__ import annotations

import base64
import json
import resource
import sys
from collections.abc import Callable, Mapping
from time import process_time

from own_domain import HOUSE

from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.errors import MailError
from pbmserv.inbound.attached import attached_text
from pbmserv.inbound.message import read_mail, wire_refusal
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope

MIB = 1 << 20

_ANSWERED = (None, Answered.QUESTION, Answered.DIGEST)
"""A mail to the server's own address, to a letter's, and to that of the one mail a day."""

_FROM = "From: a@players.example\r\n"
_LINE = 900


def _body(kind: str, unit: bytes) -> Callable[[int], bytes]:
    """Mails of this type whose body repeats *unit*, in lines that a mail server lets pass."""
    line = unit if unit.endswith(b"\r\n") else unit * (_LINE // len(unit) or 1) + b"\r\n"
    head = f"{_FROM}Content-Type: {kind}\r\n\r\n".encode()
    return lambda size: head + line * ((size - len(head)) // len(line))


def _head(name: str, unit: bytes) -> Callable[[int], bytes]:
    """Mails with a field that fills all the room there is for headers (64 KiB at 1 MiB)."""
    line = b" " + unit * (_LINE // len(unit)) + b"\r\n"
    return lambda size: f"{_FROM}{name}:\r\n".encode() + line * (size // 17 // len(line)) + b"\r\nx"


def _nested(size: int) -> bytes:
    parts = "".join(
        f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n" for n in range(18)
    )
    text = b"--b1\r\nx --b2\r\n" * (size // 14)
    head = f"{_FROM}Content-Type: multipart/mixed; boundary=b0\r\n\r\n{parts}--b18\r\n\r\n"
    return head.encode() + text


def _coded(kind: str, octets: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Mails whose body is in base64, where a line may be as long as it likes."""
    head = f"{_FROM}Content-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n\r\n".encode()

    def make(size: int) -> bytes:
        body = octets((size - len(head)) * 36 // 50)
        return head + base64.encodebytes(body).replace(b"\n", b"\r\n")

    return make


def _long_line(front: str, unit: str, end: str) -> Callable[[int], bytes]:
    """Mails of one line."""
    begins, ends, middle = front.encode(), end.encode(), unit.encode()

    def line(size: int) -> bytes:
        return begins + middle * ((size - len(begins) - len(ends)) // len(middle)) + ends

    return _coded("text/plain; charset=utf-8", line)


def _command_lines(unit: str) -> Callable[[int], bytes]:
    """Mails of lines that are as long as a line of commands may be."""
    line = "blackbox " + unit * (1_980 // len(unit)) + "\n"
    return _coded("text/plain; charset=utf-8", lambda size: line.encode() * (size // len(line)))


def _parts(unit: bytes) -> Callable[[int], bytes]:
    """Mails of as many parts as there may be, all of them in HTML."""
    head = f"{_FROM}Content-Type: multipart/alternative; boundary=b\r\n\r\n".encode()
    line = unit * (_LINE // len(unit)) + b"\r\n"
    front = b"--b\r\nContent-Type: text/html\r\n\r\n"
    return lambda size: head + (front + line * (size // 99 // len(line))) * 98


def _value(tag: int, inner: bytes) -> bytes:
    """A value as X.690 encodes it."""
    size = len(inner).to_bytes(4)
    return bytes((tag, 0x84)) + size + inner


def _long_type(size: int) -> bytes:
    """An S/MIME wrapper whose type is one number of a million digits."""
    return _value(0x30, _value(0x06, b"\x2a" + b"\xff" * (size // 2) + b"\x7f"))


def _long_inner_type(size: int) -> bytes:
    """The same of what is signed."""
    wrapped = _value(0x30, _value(0x06, b"\x2a" + b"\xff" * (size // 2) + b"\x7f"))
    signed = _value(0x02, b"\xff" * (size // 8)) + _value(0x31, b"") + wrapped
    form = bytes.fromhex("06092a864886f70d010702")
    return _value(0x30, form + _value(0xA0, _value(0x30, signed)))


def _attached(name: str, unit: str) -> Callable[[int], bytes]:
    """Mails with a file below their text, whose field *name* fills all the mail."""
    line = b" " + unit.encode() * (_LINE // len(unit)) + b"\r\n"
    head = f"{_FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\n{name}"

    def make(size: int) -> bytes:
        return head.encode() + b"\r\n" + line * ((size - 300) // len(line)) + b"\r\nx\r\n--b--\r\n"

    return make


def _files(size: int) -> bytes:
    head = f"{_FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n"
    part = b'--b\r\nContent-Disposition: attachment; filename="x"\r\n\r\n'
    return head.encode() + part * ((size - 300) // len(part)) + b"--b--\r\n"


CRAFTED: Mapping[str, Callable[[int], bytes]] = {
    "On On On": _body("text/plain", b"On "),
    "attributions without an end": _body("text/plain", b"On 2014-03-03 10:00 a@b wrote\r\n"),
    "quote marks": _body("text/plain", b">"),
    "quotes and answers": _body("text/plain", b"> a\r\nb\r\n\r\n"),
    "brackets": _body("text/plain", b"("),
    "header blocks": _body("text/plain", b"From:\r\n\r\n"),
    "our own line, nearly": _body("text/plain", b"Reply above this "),
    "combining marks": _body("text/plain; charset=utf-8", "\u0301\u0323".encode()),
    "flowed lines": _body("text/plain; format=flowed; delsp=yes", b"a \r\n"),
    "a charset of escapes": _body("text/plain; charset=iso-2022-jp", b"\x1b$B"),
    "boundaries, nearly": _body("multipart/mixed; boundary=b", b"--bx\r\n"),
    "parts in parts": _nested,
    "html: comments": _body("text/html", b"<!--"),
    "html: tags never closed": _body("text/html", b"<b>x"),
    "html: blocks in blocks": _body("text/html", b"<div>"),
    "html: quotes in quotes": _body("text/html", b"x<blockquote>"),
    "html: tables in tables": _body("text/html", b"<table><tr><td>x"),
    "html: lists in lists": _body("text/html", b"<ul><li>"),
    "html: attributes": _body("text/html", b"<a b c d e f "),
    "html: styles": _body("text/html", b"<p style='border-left:          x'>"),
    "one character in three octets": _body("text/plain; charset=windows-1258", b"\xe3\xec\xf2"),
    "armour, nearly": _body("text/plain", b"-----BEGIN PGP MESSAGE----"),
    "one line: French quotes": _long_line("\xab x \xbb", " ", "x"),
    "one line: blanks": _long_line("1", " ", "x"),
    "one line: quotes": _long_line("", "' ", ""),
    "one line: a reply address, nearly": _long_line("x\n\n", "+" + "a" * 24, ""),
    "one line: a board and blanks": _long_line("board", " ", "1"),
    **{
        f"one line: {unit!r}": _long_line("", unit, "")
        for unit in ("'a ", ",", "(", "[", ":", "+", "%", "=", "<", "&", "\n", ">\n", "a\n")
    },
    **{
        f"lines of commands: {unit!r}": _command_lines(unit)
        for unit in ("'a ", '"', "a=' ", "a,", "digest=daily 8 ", "-a ", "( ", "12: ", "1#2 ")
    },
    "many parts: tags": _parts(b"<b>x"),
    "many fields": lambda size: _FROM.encode() + b"X: y\r\n" * (size // 17 // 6) + b"\r\nx",
    "soft line breaks": _body("text/plain; charset=utf-8", b"=\r\n"),
    "a line that goes on": _long_line("1: g", "\n  g", ""),
    "html: one line": _coded("text/html", lambda size: b"<p>\xc2\xab" + b"&nbsp;" * (size // 6)),
    "an S/MIME nest": _coded("application/pkcs7-mime", lambda size: b"\x30\x80" * (size // 2)),
    "an S/MIME type": _coded("application/pkcs7-mime", _long_type),
    "an S/MIME type inside": _coded("application/pkcs7-mime", _long_inner_type),
    "an S/MIME tag": _coded(
        "application/pkcs7-mime", lambda size: b"\x30\x80\x3f" + b"\xff" * (size // 2)
    ),
    "a file's name": _attached('Content-Disposition: attachment; filename="', ";"),
    "a file's many names": _attached("Content-Disposition: attachment; a=b", "; filename*0*=%aa"),
    "a file's type": _attached("Content-Type: text/plain; name=", '";'),
    "files": _files,
    "subject: encoded words": _head("Subject", b"=?utf-8?q?=41?= "),
    "subject: nearly encoded words": _head("Subject", b"=?"),
    "type: parameters": _head("Content-Type", b"; a"),
    "to: addresses": _head("To", b"a@b.example, "),
    "references": _head("References", b"<a@b.example> "),
}


def seconds(raw: bytes) -> float:
    """Processor time to read a mail and what it asks for."""
    envelope = Envelope("a@players.example", "pbmserv@games.example", raw)
    if wire_refusal(raw) is not None:
        raise ValueError("no mail server would let this pass")
    begun = process_time()
    try:
        mail = read_mail(envelope, HOUSE)
        text = read_new_text(mail.text).text
    except MailError:
        return process_time() - begun  # it is turned away, which takes its time, too
    attached_text(raw, "Black Box")
    took = process_time() - begun
    return took + max(_commands(mail.subject, text, answered) for answered in _ANSWERED)


def _commands(subject: str, text: str, answered: Answered | None) -> float:
    begun = process_time()
    if answered is None:
        read_new_mail(subject, text, {"blackbox": "Blackbox"})
    else:
        read_reply_to(answered, text, {"blackbox": "Blackbox"})
    return process_time() - begun


def main() -> None:
    """Print for each mail its times at the named size and at a quarter of it, and the octets by
    which the process has grown."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MIB
    _load()
    before = _octets_held()
    for name, make in CRAFTED.items():
        took = [seconds(make(size)) for size in (most // 4, most)]
        print(json.dumps({"name": name, "seconds": took, "grown": _octets_held() - before}))


def _load() -> None:
    """Load modules that the first mail of a kind loads."""
    for name in ("html: lists in lists", "an S/MIME nest"):
        seconds(CRAFTED[name](1000))


def _octets_held() -> int:
    """Return the most memory that this process ever had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    main()
