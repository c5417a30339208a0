"""Parts of a seemingly empty reply that were left out and could have been an answer."""

from __future__ import annotations

from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope, Mail

QUOTE = "On Sun, 1 Mar 2026 at 12:00, pbmserv <p@games.example> wrote:\n> Will you play?\n> Bob\n"


@rows(
    "text",
    [
        "",
        "\n \n\u200b\n",
        QUOTE,
        f"\n{QUOTE}\n-- \nAlice\nof the Example Club\n",
        "> Will you play?\n\n-- \nAlice\n",
        f"> On Sun, 1 Mar 2026, pbmserv wrote:\n>\n{QUOTE.partition(chr(10))[2]}",
    ],
)
def test_nothing_but_marked_quotes_and_a_marked_signature_is_nothing(text):
    new_text = read_new_text(text)
    assert new_text.text == ""
    assert not new_text.left_out


@rows(
    "text",
    [
        f"No, sorry:\n{QUOTE.partition(chr(10))[2]}",
        "I wrote: no, and no again. So I wrote:\n> Will you play?\n",
        "No, Bob wrote:\nnever again\n",
        "On 1 March 2026, Bob wrote:\nno\n",
        "Sent with regrets\n",
        "To unsubscribe: how?\n",
        "__________\nno\n",
        "From: Bob\nTo: Alice\nSubject: no\n\nno\n",
        "Reply above this line\n\nno\n",
        "| no\n",
        "No> no\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\nno\n",
        "\u2014\nno\n",
    ],
)
def test_an_unread_part_that_could_be_an_answer_is_reported(text):
    new_text = read_new_text(text)
    assert new_text.text == ""
    assert new_text.left_out


PARTS = {
    "empty": "Content-Type: text/plain\n\n\n",
    "html": "Content-Type: text/html\n\n<blockquote>Will you play?</blockquote>\n",
    "signature": "Content-Type: application/pgp-signature; name=signature.asc\n\nx\n",
}


def mail_of(kind: str, *names: str) -> Mail:
    parts = "".join(f"--b\n{PARTS[name]}" for name in names)
    raw = f"From: a@players.example\nContent-Type: multipart/{kind}; boundary=b\n\n{parts}--b--\n"
    envelope = Envelope("", "b+12@games.example", raw.replace("\n", "\r\n").encode())
    return read_mail(envelope, HOUSE)


@rows(
    ("kind", "names"),
    [("alternative", ("empty", "html")), ("signed", ("empty", "signature")), ("mixed", ("html",))],
)
def test_the_parts_that_every_mail_has_are_not_told(kind, names):
    mail = mail_of(kind, *names)
    assert not mail.left_out
    assert not mail.unread


def test_reading_ends_in_a_mail_of_very_many_lines():
    words = "\n".join(["g", *(f"word {number}" for number in range(6_000))])
    new_text = read_new_text(words)
    assert new_text.left_out
    assert len(new_text.text.split("\n")) == 5_000
    assert new_text.text.startswith("g\nword 0\n")
