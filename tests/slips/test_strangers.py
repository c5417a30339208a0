"""A lost stranger gets one letter that explains how to begin, with no facts for members."""

from __future__ import annotations

from pathlib import Path

from indoors import PASSWORD, address_of, indoors

NINA, ALICE = "nina@elsewhere.example", address_of("alice")


def test_a_stranger_is_told_how_to_begin(house) -> None:
    """`newcomer.dialog` has more mails of this kind."""
    for subject, body in (
        ("", ""),
        ("Good morning", "Is somebody there?"),
        ("play", ""),
        ("solo", ""),
        ("chess challenge nina alice", ""),
        ("multiple", "hello\nsolo\nfrobnicate 4"),
        ("Re: your game", "> come and play\n\nHow does that go?"),
        ("prefs digest=off", ""),
    ):
        (letter,) = house.send(NINA, subject, body)
        assert letter.kind == "stranger", subject
        assert "Not done" not in letter.text
        assert "signup nina PASSWORD" in letter.text
        # To be written with a password, not sent.
        assert "<b>signup nina PASSWORD</b>" in letter.html
        assert "subject=signup" not in letter.html
        assert "Join as nina" in letter.html
        (answer,) = house.send(ALICE, subject, body)  # a player gets the reason
        assert answer.kind != "stranger"


def test_questions_that_strangers_may_ask_are_answered_alone(house) -> None:
    for subject, kind in (
        ("help", "help"),
        ("list", "list"),
        ("blackbox standings", "standings"),
        ("list chess", "refusal"),
        ("signup nina q", "refusal"),
        ("forgot", "refusal"),
        ("whoami", "whoami"),
        ("blackbox show 77", "refusal"),
        ("blackbox move 1 alice wrong-one g", "refusal"),
    ):
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


def test_a_player_who_left_is_no_stranger(house) -> None:
    (question,) = house.send(ALICE, f"signoff alice {PASSWORD}")
    house.reply(question, "yes")
    (letter,) = house.send(ALICE, "hello there")
    assert letter.kind == "refusal"
