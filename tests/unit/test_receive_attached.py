"""The file that a mail brings along: found among the parts, and only within bounds."""

from __future__ import annotations

import base64

from rows import rows

from pbmserv.inbound.attached import attached_text

HEAD = "From: a@players.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
FILE = "Black Box\r\n8x8\r\n"
NAMED = 'Content-Disposition: attachment; filename="game.txt"'
PLAIN = f"{NAMED}\r\n\r\n{FILE}"


def text_of(*parts: str) -> str:
    body = "".join(f"--b\r\n{part}\r\n" for part in parts)
    return attached_text(f"{HEAD}{body}--b--\r\n".encode(), "Black Box")


@rows(
    "part",
    [
        PLAIN,
        f"Content-Type: text/plain; name=game.txt\r\n\r\n{FILE}",
        f"Content-Type: application/octet-stream\r\n{NAMED}\r\n\r\n{FILE}",
        f"Content-Disposition: attachment; filename*=utf-8''game%2Etxt\r\n\r\n{FILE}",
        f"{NAMED}\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.b64encode(FILE.encode()).decode(),
        f"{NAMED}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nBlack=20Box\r\n8x8=\r\n",
        f"Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n{PLAIN}\r\n--c--",
    ],
)
def test_a_file_is_found_below_the_text(part):
    assert text_of("\r\nBlack Box, please!", part).splitlines()[:2] == ["Black Box", "8x8"]


@rows(
    "part",
    [
        f"\r\n{FILE}",
        f"{NAMED}\r\n\r\nA letter about Black Box",
        f"Content-Type: message/rfc822\r\n\r\n{PLAIN}",
        f"nonsense\r\n{PLAIN}",
        "",
    ],
)
def test_nothing_else_is_a_file(part):
    assert text_of("\r\nHello", part) == ""


def test_a_file_behind_a_hundred_parts_or_too_deep_is_none():
    assert text_of(*["\r\nx"] * 98, PLAIN)
    assert not text_of(*["\r\nx"] * 100, PLAIN)
    deep = "".join(
        f"Content-Type: multipart/mixed; boundary=c{n}\r\n\r\n--c{n}\r\n" for n in range(30)
    )
    assert not text_of(deep + PLAIN)
