"""Letters on the wire; no text in a letter can change its structure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import ServerFault
from pbmserv.letters.mime import Headers, build

HEADERS = Headers(
    server="games@play.example",
    to="ada@player.example",
    reply_to="r.k3j2h4@play.example",
    subject="Board 12, move 7: your turn",
    message_id="<12.7.1.f00d@play.example>",
    in_reply_to="<her-mail@player.example>",
    references=("<12.0.1.abc@play.example>", "<her-mail@player.example>"),
    thread="<12.0.1.abc@play.example>",
    topic="Board 12",
    date=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    list_id="blackbox.play.example",
    list_unsubscribe=("https://play.example/stop/abc",),
    auto_submitted="auto-replied",
    feedback_id="12:board:pbmserv",
)
BOARD = "  A B C   \n1 # . .   \n\n.dots\n-- \nReply above this line\n"
PAGE = "<html><body><table><tr><td>A</td></tr></table></body></html>\n"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=400) | st.text(
    "ab .=\n\t-Fé", max_size=300
)
one_liners = st.text(st.characters(exclude_categories=["Cs"]), max_size=150) | st.text(
    'ab .=?_"\\<>@,é\r\n', max_size=120
)


def parsed(raw: bytes) -> EmailMessage:
    message = message_from_bytes(raw, _class=EmailMessage, policy=default)
    assert isinstance(message, EmailMessage)
    return message


def content(message: EmailMessage, subtype: str) -> str:
    for part in message.walk():
        if part.get_content_type() == f"text/{subtype}":
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            return payload.decode(part.get_content_charset("")).replace("\r\n", "\n")
    raise AssertionError(f"no text/{subtype} part")


def lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).strip()


def with_header(**changes: Any) -> bytes:
    return build(replace(HEADERS, **changes), BOARD, PAGE)


def header_names(raw: bytes) -> list[str]:
    head = raw.split(b"\r\n\r\n", 1)[0].decode()
    return [line.split(":")[0] for line in head.split("\r\n") if not line.startswith(" ")]


NAMES = header_names(with_header())


def test_a_board_letter_word_for_word() -> None:
    boundary = "=-3cd57d4e2aadee210db89efd7c8a3f1c"
    expected = f"""\
Date: Fri, 02 Jan 2026 03:04:05 +0000
From: pbmserv <games@play.example>
To: ada@player.example
Reply-To: r.k3j2h4@play.example
Thread-Topic: Board 12
Thread-Index: AdXANmkFixktMTLZhh64Ec48Cne+A412vBY8
Subject: Board 12, move 7: your turn
Message-ID: <12.7.1.f00d@play.example>
In-Reply-To: <her-mail@player.example>
References: <12.0.1.abc@play.example>
 <her-mail@player.example>
Auto-Submitted: auto-replied
X-Loop: games@play.example
X-Auto-Response-Suppress: All
List-Id: <blackbox.play.example>
List-Unsubscribe: <https://play.example/stop/abc>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
Feedback-ID: 12:board:pbmserv
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="{boundary}"

--{boundary}
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: 7bit

{BOARD}
--{boundary}
Content-Type: text/html; charset=us-ascii
Content-Transfer-Encoding: 7bit

{PAGE}
--{boundary}--
"""
    assert with_header().decode() == expected.replace("\n", "\r\n")


def test_the_same_letter_is_the_same_bytes() -> None:
    assert with_header() == with_header()
    other = with_header(message_id="<12.8.1.f00d@play.example>")
    assert parsed(other).get_boundary() != parsed(with_header()).get_boundary()


@given(text=texts, html=texts)
@example(text="", html="x")
@example(text="a\rb", html="a\rb\r\n")
@example(text="x" * 998, html="x" * 999)
@example(text="é" * 80, html="a" * 75 + "é From us" + " " * 90)
@example(text="." * 200 + "=" * 80, html="é" + "x" * 74 + "From here" + "." * 76)
def test_both_bodies_arrive_as_they_were_written(text: str, html: str) -> None:
    raw = build(HEADERS, text, html)
    message = parsed(raw)
    assert content(message, "plain") == lf(text)
    if html:
        assert content(message, "html") == lf(html)
    assert not message.defects
    assert not any(part.defects for part in message.walk())


@given(text=texts, html=texts, subject=one_liners)
def test_the_wire_form_keeps_every_rule_of_the_line(text: str, html: str, subject: str) -> None:
    raw = build(replace(HEADERS, subject=subject), text, html)
    assert raw.isascii()
    assert b"\0" not in raw
    assert raw.count(b"\r") == raw.count(b"\n") == raw.count(b"\r\n")
    for line in raw.split(b"\r\n"):
        assert len(line) <= 998
        assert not line.startswith(b"From ")
    assert header_names(raw) == NAMES or not html
    for part in parsed(raw).walk():
        if part["Content-Transfer-Encoding"] == "quoted-printable":
            quoted = str(part.get_payload()).splitlines()
            assert all(len(line) <= 76 and not line.startswith(".") for line in quoted)
            assert all(line == line.rstrip(" \t") for line in quoted)


@given(subject=one_liners)
@example(subject="Brett 12: Žofie ist am Zug " * 12)
@example(subject="x" * 2000)
@example(subject="=?utf-8?q?not_encoded?=")
@example(subject="a\r\nBcc: victim@example.com")
def test_a_subject_arrives_in_one_line_and_adds_no_header(subject: str) -> None:
    raw = with_header(subject=subject)
    assert parsed(raw)["Subject"] == one_line(subject)
    assert header_names(raw) == NAMES


@rows(
    "wrong",
    [
        "",
        "nobody",
        "@x.example",
        "a@",
        "a b@x.example",
        "a@x.example, b@x.example",
        "a@x.example\r\nBcc: b@x.example",
        '"a\nb"@x.example',
        '"a\\"@x.example',
        "a@x.example\0",
        "a@x\u0085.example",
        "a@x\u2028.example",
        "a\ud800@x.example",
        "Ada <a@x.example>",
        "a" * 400 + "@x.example",
    ],
)
def test_a_letter_to_a_wrong_address_is_not_sent(wrong: str) -> None:
    for field in ("to", "server", "reply_to"):
        with pytest.raises(ServerFault):
            with_header(**{field: wrong})


@rows("bad", ["a\r\nb", "a\0b", "a b", "<a>", "é", "", "x" * 1000])
@rows("field", ["server", "list_id", "auto_submitted"])
def test_no_word_of_the_header_can_smuggle(field: str, bad: str) -> None:
    with pytest.raises(ServerFault):
        with_header(**{field: bad})


@rows(
    "change",
    [
        {"message_id": "no brackets"},
        {"message_id": "<a\nb@x>"},
        {"message_id": ""},
        {"in_reply_to": "<a\r\nBcc: x@x>"},
        {"references": ("<a@x>", "<b\0@x>")},
        {"feedback_id": "a\nb"},
        {"list_unsubscribe": ("http://play.example/stop",)},
        {"list_unsubscribe": ("https://play.example/>\r\nBcc: x",)},
        {"date": datetime(2026, 1, 2, 3, 4, 5)},  # noqa: DTZ001 - the naive date is the fault
    ],
)
def test_other_faulty_headers_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ServerFault):
        with_header(**change)


def test_a_long_thread_is_folded_between_its_ids_only() -> None:
    ids = tuple(f"<{'x' * 200}.{n}@play.example>" for n in range(60))
    raw = with_header(references=ids)
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    assert str(parsed(raw)["References"]).split() == list(ids)
    assert all(message_id.encode() in raw for message_id in ids)


def test_a_strangers_odd_message_id_is_left_out_not_fatal() -> None:
    raw = with_header(
        in_reply_to="my mailer is odd", references=("<a@x>", "b c", "<é@x>", f"<{'y' * 2000}>")
    )
    message = parsed(raw)
    assert message["In-Reply-To"] is None
    assert message["References"] == "<a@x>"
    assert parsed(with_header(references=("?",)))["References"] is None


def test_a_body_that_holds_the_boundary_gets_another_one() -> None:
    usual = parsed(with_header()).get_boundary()
    assert usual is not None
    hostile = f"look:\n--{usual}\nContent-Type: text/html\n\nevil\n--{usual}--\n"
    raw = build(HEADERS, hostile, PAGE)
    message = parsed(raw)
    assert message.get_boundary() != usual
    assert content(message, "plain") == hostile
    assert raw == build(HEADERS, hostile, PAGE)
