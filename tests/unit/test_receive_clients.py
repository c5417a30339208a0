"""Replies as real mail programs write them: HTML alone, signed, and sealed, one file each."""

from __future__ import annotations

from pathlib import Path

from mail_quotes import MARKUP
from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.html import read_html
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope, Mail

TESTS = Path(__file__).parent.parent
REPLIES = sorted((TESTS / "replies").glob("*.eml"))
SEALED = TESTS / "sealed"
SAID = "g,+b2\n\nGood luck!"


def read(file: Path) -> Mail:
    raw = file.read_bytes().replace(b"\n", b"\r\n")
    envelope = Envelope("alice@players.example", "b+12@games.example", raw)
    return read_mail(envelope, HOUSE)


@rows("file", REPLIES, ids=[file.stem for file in REPLIES])
def test_a_reply_in_html_alone_leaves_what_was_written(file):
    mail = read(file)
    assert read_new_text(mail.text).text == SAID
    assert not mail.unread


@rows(
    "name",
    ["smime-clear", "pgp-mime-signed", "pgp-inline-signed"],
)
def test_a_signature_hides_nothing(name):
    mail = read(SEALED / f"{name}.eml")
    assert read_new_text(mail.text).text == SAID
    assert not mail.unread


@rows(
    ("name", "why"),
    [
        ("smime-encrypted", "encrypted"),
        ("smime-encrypted-untold", "opaque"),
        ("smime-signed-outlook", "opaque"),
        ("smime-signed-thunderbird", "opaque"),
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


def html_text(markup: str) -> str:
    reading = read_html(markup)
    assert reading is not None
    return reading.text


QUOTED = "<p>resign</p><table><tr><td>blackbox resign 12 alice secret</td></tr></table>"


@rows("markup", MARKUP.values(), ids=MARKUP)
def test_no_way_of_marking_a_quote_lets_it_through(markup):
    assert read_new_text(html_text(f"<p>g,+b2</p>{markup.format(QUOTED)}")).text == "g,+b2"
    assert read_new_text(html_text(markup.format(QUOTED))).text == ""


def armoured(kind: str, text: str) -> Mail:
    raw = f"From: a@players.example\r\nContent-Type: {kind}; charset=utf-8\r\n\r\n{text}"
    envelope = Envelope("alice@players.example", "b+12@games.example", raw.encode())
    return read_mail(envelope, HOUSE)


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
