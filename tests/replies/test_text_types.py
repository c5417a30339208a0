"""Text types: a text that a person wrote is read, whatever its subtype is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope, Mail

CASES = Path(__file__).parent / "read_wrongly"
WORDLESS = {"calendar", "vcard", "x-vcard", "directory", "css", "javascript", "ecmascript", "xml",
            "sgml", "dtd", "rtf", "enriched", "richtext", "rfc822-headers", "vtt"}  # fmt: skip
MARKUP = {"html", "x-amp-html", "watch-html"}


def read(raw: str | bytes) -> Mail:
    octets = raw.encode() if isinstance(raw, str) else raw
    envelope = Envelope("", "b+12@games.example", octets.replace(b"\n", b"\r\n"))
    return read_mail(envelope, HOUSE)


def alone(kind: str, body: str = "g,+b2\n") -> Mail:
    return read(f"From: a@players.example\nContent-Type: {kind}\n\n{body}")


def parts(kind: str, *leaves: tuple[str, str]) -> Mail:
    body = "".join(f"--b\nContent-Type: {leaf}\n\n{text}\n" for leaf, text in leaves)
    head = f"From: a@players.example\nContent-Type: multipart/{kind}; boundary=b"
    return read(f"{head}\n\n{body}--b--\n")


def test_a_mail_in_markdown_is_a_move():
    assert read_new_text(read((CASES / "text_markdown.eml").read_bytes()).text).text == "9"


@rows("kind", ["markdown", "csv", "PLAIN", "x-org", "vnd.example.a+b", "x"])
def test_a_text_of_any_type_is_read(kind):
    mail = alone(f"text/{kind}; charset=utf-8")
    assert read_new_text(mail.text).text == "g,+b2"
    assert not mail.unread
    assert not mail.left_out


@rows("kind", sorted(WORDLESS | {"x-amp-html", "watch-html"}))
def test_a_text_that_no_person_wrote_is_left_out(kind):
    mail = alone(f"text/{kind}", "9\n")
    assert mail.text == ""
    assert mail.left_out or mail.unread


@rows("kind", ["markdown", "x-markdown"])
def test_an_attached_text_is_a_file(kind):
    for head in (f"text/{kind}; name=notes.md", f"text/{kind}\nContent-Disposition: attachment"):
        mail = parts("mixed", ("text/plain", "g"), (head, "9"))
        assert read_new_text(mail.text).text == "g"
        assert alone(head, "9\n").text == ""


@rows("kind", ["markdown", "enriched", "x-amp-html", "watch-html", "calendar"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_plain_text_beside_another_form_is_the_one_that_is_read(kind, is_first):
    leaves = [(f"text/{kind}", "9"), ("text/plain", "g")]
    ordered = leaves if is_first else leaves[::-1]
    assert read_new_text(parts("alternative", *ordered).text).text == "g"


@rows("kind", ["x-amp-html", "watch-html", "calendar"])
def test_html_beside_a_text_without_words_is_read(kind):
    for leaves in (
        [(f"text/{kind}", "9"), ("text/html", "<p>g")],
        [("text/html", "<p>g"), (f"text/{kind}", "9")],
    ):
        assert read_new_text(parts("alternative", *leaves).text).text == "g"
