"""Files that travel with a letter."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import ServerFault
from pbmserv.letters.attachments import data_file
from pbmserv.letters.mime import Attachment, Headers, build

HEADERS = Headers(
    server="games@play.example",
    to="ada@player.example",
    reply_to="games@play.example",
    subject="All we keep on you",
    message_id="<export.f00d@play.example>",
    in_reply_to="",
    references=(),
    thread="",
    topic="",
    date=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    list_id="games.play.example",
    list_unsubscribe=(),
    auto_submitted="auto-replied",
    feedback_id="export",
)


def parsed(raw: bytes) -> EmailMessage:
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


@given(st.binary(max_size=2000), st.sampled_from(["", "<p>Hello</p>\n"]))
def test_octets_arrive_unchanged_below_the_words(content: bytes, html: str) -> None:
    raw = build(HEADERS, "Hello\n", html, (Attachment("ada.json", "application/json", content),))
    message = parsed(raw)
    [attached] = message.iter_attachments()
    assert attached.get_filename() == "ada.json"
    assert attached.get_content_type() == "application/json"
    assert attached.get_payload(decode=True) == content
    plain = message.get_body(("plain",))
    assert plain is not None
    assert plain.get_content().replace("\r\n", "\n") == "Hello\n"
    assert (message.get_body(("html",)) is not None) == bool(html)
    assert max(map(len, raw.split(b"\r\n"))) <= 98
    assert b"\n" not in raw.replace(b"\r\n", b"")


def test_several_files_and_inner_letters() -> None:
    letter = build(HEADERS, "Hello\n", "<p>Hello</p>\n")
    raw = build(
        HEADERS,
        "Hello\n",
        "<p>Hello</p>\n",
        (
            Attachment("a.eml", "text/plain", letter),
            Attachment("b-2_x.json", "application/json", b""),
        ),
    )
    names = [part.get_filename() for part in parsed(raw).iter_attachments()]
    assert names == ["a.eml", "b-2_x.json"]


@rows("name", ["", "a b", "ä.json", 'a".json', "a\r\nX: y", ".hidden", "../a"])
def test_names_that_are_not_fit_for_a_header(name: str) -> None:
    with pytest.raises(ServerFault):
        build(HEADERS, "Hello\n", "", (Attachment(name, "application/json", b""),))


@rows("media_type", ["", "json", "application/json; x=y", "a/b\r\nX: y"])
def test_types_that_are_not_fit_for_a_header(media_type: str) -> None:
    with pytest.raises(ServerFault):
        build(HEADERS, "Hello\n", "", (Attachment("a.json", media_type, b""),))


def test_the_data_of_an_old_account_fit_into_a_mail() -> None:
    content = b'{"boards": [\n' + b'{"text": "g,+b2"},\n' * 500_000 + b"]}\n"
    attached = data_file("ada", content)
    assert (attached.name, attached.media_type) == ("pbmserv-ada.json.gz", "application/gzip")
    assert gzip.decompress(attached.content) == content
    assert len(build(HEADERS, "Hello\n", "", (attached,))) < 1_000_000
    assert data_file("ada", content[:1000]).name == "pbmserv-ada.json"
