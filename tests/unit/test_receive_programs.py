"""Parts that telephones and web mail add, which are neither files nor words of a player."""

from __future__ import annotations

from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.message import read_mail
from pbmserv.mail.envelope import Envelope, Mail

FACE = (
    "Content-Type: text/plain; charset=UTF-8\n\n\U0001f44d\n\nBob reacted via Gmail <https://x>\n"
)
REACTION = (
    'Content-Type: text/vnd.google.email-reaction+json; charset="utf-8"\n\n'
    '{"emoji":"\U0001f44d","version":1}\n'
)
MARKUP = "Content-Type: text/html\n\n<p>\U0001f44d</p>\n"
EMPTY = "Content-Type: text/plain\n\n\n"
TEXT = "Content-Type: text/plain\n\ng\n"


def mail_of(kind: str, *parts: str) -> Mail:
    body = "".join(f"--b\n{part}" for part in parts)
    raw = f"From: a@players.example\nContent-Type: {kind}; boundary=b\n\n{body}--b--\n"
    envelope = Envelope("a@players.example", "b@games.example", raw.replace("\n", "\r\n").encode())
    return read_mail(envelope, HOUSE)


@rows(
    "parts",
    [
        (FACE, REACTION, MARKUP),
        (REACTION,),
        (EMPTY, REACTION),
        (TEXT, MARKUP, REACTION),
        (FACE, MARKUP),
        ("Content-Type: text/plain\n\nBob Smith reacted to your message:\n\n\u2764\n",),
    ],
)
def test_a_face_that_was_pressed_is_no_mail_to_answer(parts):
    mail = mail_of("multipart/alternative", *parts)
    assert mail.automatic == "reaction"
    assert not mail.only_headers


@rows("text", ["\U0001f44d", "> Bob reacted via Gmail\n\ng", "I reacted. Gmail?"])
def test_a_face_that_somebody_wrote_is_a_person_s(text):
    assert not mail_of("multipart/mixed", f"Content-Type: text/plain\n\n{text}\n").automatic


def named(name: str, disposition: str) -> str:
    kind = f"Content-Type: text/plain; charset=utf-8; name={name}"
    return f"{kind}\nContent-Disposition: {disposition}\n\ng\n"


@rows(
    "part",
    [
        named("text_0.txt", "inline"),
        named("text_0.txt", "inline; filename=text_0.txt"),
        named("0.txt", "INLINE; filename=0.txt"),
    ],
)
@rows("above", [(), (EMPTY,)])
def test_a_telephone_s_text_is_read_though_it_has_a_name(part, above):
    mail = mail_of("multipart/mixed", *above, part, "Content-Type: image/png; name=a.png\n\nx\n")
    assert mail.text.strip() == "g"
    assert not mail.unread


@rows(
    "part",
    [
        named("text_0.txt", "attachment"),
        named("moves.txt", "inline; filename=moves.txt"),
        "Content-Type: text/plain; name=text_0.txt\n\ng\n",
    ],
)
def test_a_file_is_a_file(part):
    assert mail_of("multipart/mixed", part).unread == "no-text"
