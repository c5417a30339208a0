"""Words that are left out of a reply are never taken for an empty one, which says yes.

Every letter that an empty reply says yes to, and a no in every way in which it could be overlooked:
as what looks like an attribution, a block of headers, a divider, advertising or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from examples import DEEP
from indoors import Indoors, Posted, indoors
from mail_quotes import MARKUP, SENT_FROM, in_plain_text
from seating import HIDINGS, reply_address, seat_pairs

from pbmserv.inbound.quotes.line_signs import BLANKS, PLAIN_MARKS

pytestmark = pytest.mark.slow

NO = "No, never!"
Asked = tuple[Indoors, Posted, str]
"""A house, a letter of its that asks for a yes, and what a letter says once it was given."""


@contextmanager
def challenge(folder: Path) -> Iterator[Asked]:
    with indoors(folder) as house:
        house.sign_up("alice", "bob")
        sent = house.send("alice@players.example", "blackbox challenge alice bob")
        letter = next(letter for letter in sent if letter.recipient.startswith("bob"))
        yield house, letter, "accepted"


@contextmanager
def signup(folder: Path) -> Iterator[Asked]:
    with indoors(folder, signup="confirm") as house:
        sent = house.send("m@players.example", "signup alice wonder-land alice@players.example")
        letter = next(letter for letter in sent if letter.recipient.startswith("alice"))
        yield house, letter, "Welcome"


@contextmanager
def address(folder: Path) -> Iterator[Asked]:
    with indoors(folder) as house:
        house.sign_up("alice")
        sent = house.send(
            "alice@players.example", "change address alice wonder-land alice@home.example"
        )
        letter = next(letter for letter in sent if letter.recipient == "alice@home.example")
        yield house, letter, "no longer used"


@contextmanager
def submission(folder: Path) -> Iterator[Asked]:
    with indoors(folder) as house:
        (table,) = seat_pairs(house.server, 1, "t")
        for player, to, hiding in zip(table.players, table.addresses, HIDINGS, strict=True):
            house.send(player.address, body=hiding, to=to)
        first = table.players[0]
        with house.server.database.reading.connect() as connection:
            to = reply_address(house.server, connection, table.board, first)
        (letter,) = house.send(first.address, body="submit h", to=to)
        yield house, letter, "fired port"


QUESTIONS = (challenge, signup, address, submission)


def ways() -> Iterator[tuple[str, str]]:
    """Types and bodies of replies whose words are overlooked, or may be."""
    plain = "text/plain; charset=utf-8"
    for name, text in in_plain_text(NO):
        if not text.strip(BLANKS).startswith(PLAIN_MARKS) and not name.startswith("signature"):
            yield plain, text  # nobody uses those two for words of their own
    yield plain, f"{NO}\nI wrote:\n> Will you?"
    yield plain, f"> a line of a letter that is long enough to be wrapped by a program\n{NO}"
    for line in SENT_FROM.values():
        yield plain, line
    for kind, markup in MARKUP.items():
        if "quote" not in markup:
            yield "text/html; charset=utf-8", f"<p></p>{markup.format(NO)}<p>{kind}</p>"
    yield "text/html", f'<p></p><div id="Signature">{NO}</div>'
    yield "text/html", f'<p></p><img src="cid:x" alt="{NO}">'
    for part in (
        f"Content-Type: text/plain; name=no.txt\n\n{NO}",
        f"Content-Type: text/html; name=no.html\n\n{NO}",
        f"Content-Type: message/rfc822\n\nSubject: {NO}\n\n{NO}",
        "Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR",
        "Content-Type: image/png\nContent-Disposition: inline\n\nx",
        "Content-Type: application/ms-tnef; name=winmail.dat\n\nx",
    ):
        for kind in ("mixed", "alternative"):
            body = f"--b\nContent-Type: text/plain\n\n\n--b\n{part}\n--b--\n"
            yield f"multipart/{kind}; boundary=b", body


WAYS = list(ways())


def mailed(house: Indoors, letter: Posted, kind: str, body: str) -> str:
    """Answer a letter; what all the letters say that this brought."""
    house.mails += 1
    raw = (
        f"From: {letter.message['To']}\nSubject: Re: {letter.subject}\n"
        f"Message-ID: <consent-{house.mails}@x>\nContent-Type: {kind}\n\n{body}\n"
    )
    octets = raw.replace("\n", "\r\n").encode()
    sent = house.send_raw(letter.recipient, octets, letter.reply_to)
    return "\n".join(letter.text for letter in sent)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_no_overlooked_word_is_a_yes(
    question: Callable[[Path], Iterator[Asked]], tmp_path: Path
) -> None:
    """Each question is answered in an eighth of the ways, in a deep run in a quarter and with
    all kinds of files."""
    with question(tmp_path) as (house, letter, consent):
        at, step = QUESTIONS.index(question), len(QUESTIONS) * (1 if DEEP else 2)
        for kind, body in [*WAYS[at::step], *(WAYS[-14:] if DEEP else ())]:
            assert consent not in mailed(house, letter, kind, body), body
        # So it was open all the while.
        assert consent in mailed(house, letter, "text/plain", "yes")


@pytest.mark.parametrize("question", [signup, address], ids=lambda question: question.__name__)
@pytest.mark.parametrize("quote", ["", "On 1 March 2026, pbmserv wrote:\n> Will you?\n> Bob\n"])
def test_a_reply_that_is_surely_empty_says_yes(
    question: Callable[[Path], Iterator[Asked]], quote: str, tmp_path: Path
) -> None:
    with question(tmp_path) as (house, letter, consent):
        assert consent in mailed(house, letter, "text/plain", f"\n{quote}\n-- \nAlice\n")
