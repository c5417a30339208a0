"""Replies as real mail programs write them: HTML alone, signed, and sealed, one file each."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from hypothesis import given
from hypothesis import strategies as st
from quoting import MARKUP
from rows import rows

from pbmserv.inbound.headers import ContentType
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import new_text
from pbmserv.inbound.smime import signed_entity
from pbmserv.inbound.text import read_html
from pbmserv.mail.envelope import Envelope, Mail

TESTS = Path(__file__).parent.parent
REPLIES = sorted((TESTS / "replies").glob("*.eml"))
SEALED = TESTS / "sealed"
SAID = "g,+b2\n\nGood luck!"


def read(file: Path) -> Mail:
    raw = file.read_bytes().replace(b"\n", b"\r\n")
    envelope = Envelope("alice@players.example", "b+12@games.example", raw)
    return read_mail(envelope, host="games.example", is_ours=lambda _: False)


@rows("file", REPLIES, ids=[file.stem for file in REPLIES])
def test_a_reply_in_html_alone_leaves_what_was_written(file):
    mail = read(file)
    assert new_text(mail.text) == SAID
    assert not mail.unread


def test_there_are_replies_of_all_the_big_programs():
    assert len(REPLIES) >= 28
    assert all(b"resign" in file.read_bytes() or b"base64" in file.read_bytes() for file in REPLIES)


@rows(
    "name",
    ["smime-signed-outlook", "smime-signed-thunderbird", "smime-clear", "pgp-mime-signed",
     "pgp-inline-signed"],
)  # fmt: skip
def test_a_signature_hides_nothing(name):
    mail = read(SEALED / f"{name}.eml")
    assert new_text(mail.text) == SAID
    assert not mail.unread


@rows(
    ("name", "why"),
    [
        ("smime-encrypted", "encrypted"),
        ("smime-encrypted-untold", "encrypted"),
        ("smime-torn", "opaque"),
        ("pgp-mime-encrypted", "encrypted"),
        ("pgp-mime-encrypted-exchange", "encrypted"),
        ("pgp-mime-encrypted-list", "encrypted"),
        ("pgp-inline-encrypted", "encrypted"),
        ("only-a-picture", "no-text"),
        ("only-a-file", "no-text"),
        ("boundary-missing", "no-text"),
    ],
)
def test_a_mail_that_cannot_be_read_does_not_look_like_an_empty_one(name, why):
    mail = read(SEALED / f"{name}.eml")
    assert (mail.text, mail.unread) == ("", why)


@given(st.integers(10, 1200), st.binary(max_size=6))
def test_no_damage_to_a_sealed_mail_raises(at, octets):
    file = SEALED / "smime-signed-thunderbird.eml"
    raw = file.read_bytes().replace(b"\n", b"\r\n")
    damaged = raw[:-at] + octets + raw[len(raw) - at + len(octets) :]
    envelope = Envelope("alice@players.example", "b+12@games.example", damaged)
    mail = read_mail(envelope, host="games.example", is_ours=lambda _: False)
    assert mail.unread in {"", "opaque", "no-text"}


def html_text(markup: str) -> str:
    found = read_html(markup)
    assert found is not None
    return found.text


QUOTED = "<p>resign</p><table><tr><td>blackbox resign 12 alice secret</td></tr></table>"


@rows("markup", MARKUP.values(), ids=MARKUP)
def test_no_way_of_marking_a_quote_lets_it_through(markup):
    assert new_text(html_text(f"<p>g,+b2</p>{markup.format(QUOTED)}")) == "g,+b2"
    assert new_text(html_text(markup.format(QUOTED))) == ""


@rows("style", ["border-left:none", "border-left: 0px", "border-left-width:0"])
def test_no_line_on_the_left_is_no_quote(style):
    assert html_text(f'<div style="{style}">g,+b2</div>') == "g,+b2"


def armoured(kind: str, text: str) -> Mail:
    raw = f"From: a@players.example\r\nContent-Type: {kind}; charset=utf-8\r\n\r\n{text}"
    envelope = Envelope("alice@players.example", "b+12@games.example", raw.encode())
    return read_mail(envelope, host="games.example", is_ours=lambda _: False)


ARMOUR = ("-----BEGIN PGP MESSAGE-----", "", "hQEMA1234", "=abcd", "-----END PGP MESSAGE-----")


@rows("front", ["", "\r\n \r\n", "\u200b", "\ufeff\u200b\r\n\u00a0", "\u2060 \u200e"])
def test_armour_is_seen_behind_what_nobody_sees(front):
    assert armoured("text/plain", front + "\r\n".join(ARMOUR)).unread == "encrypted"


@rows(
    "markup",
    [
        "<pre>{}</pre>",
        "<div>{}</div>",
        "<p>&nbsp;</p><p>&#8203;{}</p>",
        "<table><tr><td>{}</td></tr></table>",
        "<div style='font-family:monospace'><div><br></div><span>{}</span></div>",
    ],
)
@rows("between", ["\r\n", "<br>", "</div><div>"])
def test_armour_in_html_is_seen(markup, between):
    if "pre" in markup or between != "\r\n":
        text = markup.format(between.join(ARMOUR))
        assert armoured("text/html", text).unread == "encrypted"


@rows("inside", [b"", b"\x02\x01\x01\x31\x00"])
def test_a_sealed_mail_is_never_counted_together(inside):
    # As a number this object identifier has a million digits; that took half a minute.
    long = b"\x06\x83\x04\x00\x00\x2a" + b"\xff" * (0x40000 - 2) + b"\x7f"
    signed = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80"
    octets = b"\x30\x80" + (signed + inside + b"\x30\x80" if inside else b"") + long
    begun = process_time()
    assert signed_entity(ContentType("application/pkcs7-mime"), octets) == "opaque"
    tag = b"\x30\x80\x3f" + b"\xff" * 0x40000
    assert signed_entity(ContentType("application/pkcs7-mime"), tag) == "opaque"
    assert process_time() - begun < 1


@given(st.binary(max_size=200))
def test_no_sealed_octets_raise(octets):
    signed_entity(ContentType("application/pkcs7-mime"), octets)
    signed_entity(ContentType("application/pkcs7-mime"), b"\x30\x80" + octets)
