"""A lost stranger gets one letter that explains how to begin, with no facts for members."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from indoors import PASSWORD, Posted, address_of, indoors

NINA, ALICE = "nina@elsewhere.example", address_of("alice")


@pytest.fixture
def house(tmp_path: Path):
    with indoors(tmp_path) as house:
        house.sign_up("alice")
        house.letters()
        yield house


def greeted(letters: list[Posted]) -> bool:
    (letter,) = letters
    return letter.kind == "stranger" and "Not done" not in letter.text


LOST = (
    ("", ""),
    ("Good morning", "Is somebody there?"),
    ("", "I would like to play a game with you."),
    ("play", ""),
    ("challenge alice", "Shall we?"),
    ("blackbox challenge nina alice", ""),
    ("solo", ""),
    ("seek", ""),
    ("move", ""),
    ("chess challenge nina alice", ""),
    ("multiple", "hello\nsolo\nfrobnicate 4"),
    ("Re: your game", "> come and play\n\nHow does that go?"),
    ("prefs digest=off", ""),
)


@pytest.mark.parametrize(("subject", "body"), LOST)
def test_a_stranger_is_told_how_to_begin(house, subject: str, body: str) -> None:
    letters = house.send(NINA, subject, body)
    assert greeted(letters), letters[0].text
    (letter,) = letters
    assert "signup nina PASSWORD" in letter.text
    assert "<b>signup nina PASSWORD</b>" in letter.html  # to be written with a password, not sent
    assert "subject=signup" not in letter.html
    assert "Join as nina" in letter.html
    (answer,) = house.send(ALICE, subject, body)  # a player gets the reason
    assert answer.kind != "stranger"


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        ("help", "help"),
        ("list", "list"),
        ("blackbox standings", "standings"),
        ("list chess", "refusal"),
        ("signup nina q", "refusal"),
        ("signup", "refusal"),
        ("forgot", "refusal"),
        ("whoami", "whoami"),
        ("blackbox show 77", "refusal"),
        ("blackbox games lewis", "refusal"),
        ("blackbox move 1 alice wrong-one g", "refusal"),
    ],
)
def test_questions_that_strangers_may_ask_are_answered_alone(
    house, subject: str, kind: str
) -> None:
    (letter,) = house.send(NINA, subject)
    assert letter.kind == kind


def test_the_buttons_word_is_no_password(house) -> None:
    (letter,) = house.send(NINA, "signup nina PASSWORD")
    assert "stands for a password of your own" in letter.text
    (letter,) = house.send(NINA, f"signup nina {PASSWORD}")
    assert letter.kind == "welcome"


def test_where_signup_is_closed_there_is_no_button(tmp_path: Path) -> None:
    with indoors(tmp_path, signup="closed") as house:
        (letter,) = house.send(NINA, "hello there")
    assert letter.kind == "stranger-refused"
    assert "takes no new players by mail" in letter.text
    assert "signup" not in letter.html


def test_programs_are_told_nothing(house) -> None:
    for name, value in (
        ("Auto-Submitted", "auto-replied"),
        ("Precedence", "bulk"),
        ("List-Id", "<news.elsewhere.example>"),
        ("X-Auto-Response-Suppress", "All"),
    ):
        message = EmailMessage()
        message["From"], message["To"] = NINA, house.server.mail_domain.address
        message["Subject"], message["Message-ID"] = "hello", f"<{name}@elsewhere.example>"
        message[name] = value
        message.set_content("hello")
        assert house.send_raw(NINA, message.as_bytes(policy=policy.SMTP)) == [], name
    assert house.send("noreply@elsewhere.example", "hello") == []


def test_a_player_who_left_is_no_stranger(house) -> None:
    (question,) = house.send(ALICE, f"signoff alice {PASSWORD}")
    house.reply(question, "yes")
    (letter,) = house.send(ALICE, "hello there")
    assert letter.kind == "refusal"
