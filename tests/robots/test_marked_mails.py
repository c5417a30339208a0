"""People's mails that their mail system marks like a machine's: carried out, and not answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.mail.envelope import Envelope

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")
HERE = Path(__file__).parent

MARKS = {
    "suppress": "X-Auto-Response-Suppress: DR, OOF, AutoReply",
    "several": "Precedence: bulk\nList-Id: <a.example>\nAuto-Submitted: auto-generated",
}
"""`tests/unit/test_receive_guards.py` has the other marks, which mean the same."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as opened:
        opened.sign_up("alice", "bob")
        yield opened


def marked(
    server: Indoors,
    to: str,
    mark: str,
    body: str,
    *,
    subject: str = "Re: you",
    envelope: str = ALICE,
) -> list[Posted]:
    """Hand in a mail of alice's with a header field, and return the letters that follow."""
    server.mails += 1
    lines = [f"From: {ALICE}", f"To: {to}", f"Subject: {subject}"]
    lines += [f"Message-ID: <marked.{server.mails}@players.example>", *mark.split("\n")]
    raw = "\r\n".join([*lines, "", *body.split("\n"), ""]).encode()
    assert server.hand_in(Envelope(envelope, to, raw)).startswith("250")
    return server.letters()


def challenge_to_alice(server: Indoors) -> Posted:
    letters = server.send(BOB, "blackbox challenge bob alice")
    return next(letter for letter in letters if letter.recipient == ALICE)


def kinds(letters: list[Posted]) -> list[tuple[str, str]]:
    return [(letter.recipient, letter.kind) for letter in letters]


@pytest.mark.parametrize("mark", MARKS)
def test_a_marked_reply_plays(server: Indoors, mark: str) -> None:
    question = challenge_to_alice(server)
    nothing = [
        marked(server, question.reply_to, MARKS[mark], "z99,q1,b3,d3"),
        marked(server, question.reply_to, MARKS[mark], "balls please, whatever you like"),
        marked(server, question.reply_to, MARKS[mark], ""),
        marked(server, question.reply_to, MARKS[mark], "b3,d3,e5,g2", envelope=""),
        marked(server, question.reply_to, MARKS[mark], "b3,d3,e5,g2", subject="Out of office: x"),
    ]
    assert not [kind for letters in nothing for kind in kinds(letters) if kind[1] != "away-asked"]
    played = marked(server, question.reply_to, MARKS[mark], "b3,d3,e5,g2")
    assert kinds(played) == [(BOB, "board")]
    again = marked(server, question.reply_to, MARKS[mark], "b3,d3,e5,g2")
    assert ALICE not in {letter.recipient for letter in again}


@pytest.mark.parametrize("mark", MARKS)
def test_a_marked_mail_with_a_password_plays(server: Indoors, mark: str) -> None:
    challenge_to_alice(server)
    to = server.server.mail_domain.address
    line = f"blackbox move 1 alice {PASSWORD} b3,d3,e5,g2"
    assert marked(server, to, MARKS[mark], "", subject=line, envelope="") == []
    assert marked(server, to, MARKS[mark], "", subject=f"show 1 alice {PASSWORD}") == []
    assert marked(server, to, MARKS[mark], "", subject="help") == []
    assert kinds(marked(server, to, MARKS[mark], "", subject=line)) == [(BOB, "board")]


@pytest.mark.parametrize("mark", MARKS)
def test_marked_words_reach_the_opponent(server: Indoors, mark: str) -> None:
    question = challenge_to_alice(server)
    talked = marked(server, question.reply_to, MARKS[mark], "chat\n\nGood luck, bob!")
    assert [recipient for recipient, _ in kinds(talked)] == [BOB]
    assert "Good luck, bob!" in talked[0].text


def test_programs_cannot_talk_to_each_other_by_messages(server: Indoors) -> None:
    letters = server.send(BOB, f"message bob {PASSWORD} alice", "Hello!")
    message = next(letter for letter in letters if letter.recipient == ALICE)
    talked = marked(server, message.reply_to, MARKS["suppress"], "Hello, bob!")
    assert [letter.recipient for letter in talked] == [BOB]
    for mark in ("Auto-Submitted: auto-replied", "Precedence: bulk"):
        talked = marked(server, message.reply_to, mark, "I am a program.")
        assert BOB not in [letter.recipient for letter in talked]


@pytest.mark.parametrize("mark", MARKS)
def test_a_typed_yes_counts_and_an_empty_reply_does_not(server: Indoors, mark: str) -> None:
    (question,) = server.send(ALICE, f"signoff alice {PASSWORD}")
    assert marked(server, question.reply_to, MARKS[mark], "") == []
    marked(server, question.reply_to, MARKS[mark], "yes")
    (letter,) = server.send(ALICE, f"show alice {PASSWORD}")
    assert letter.kind == "refusal"


def test_the_mail_of_an_exchange_user_plays(server: Indoors) -> None:
    question = challenge_to_alice(server)
    server.reply(question, "b3,d3,e5,g2")
    server.send(BOB, f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
    letters = server.send(BOB, f"blackbox move 1 bob {PASSWORD} 1")
    board = next(letter for letter in letters if letter.recipient == ALICE)
    raw = (HERE / "auto_response.eml").read_bytes().replace(b"\n", b"\r\n")
    raw = raw.replace(b"pbmserv+TOKEN@games.example.org", board.reply_to.encode())
    assert server.hand_in(Envelope(ALICE, board.reply_to, raw)).startswith("250")
    assert kinds(server.letters()) == [(BOB, "board")]
