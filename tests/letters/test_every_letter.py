"""One letter of each kind: plain, narrow, well-formed, and the same in text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Posted, address_of, indoors
from letter_reading import check_form

from pbmserv.render.environment import templates_root
from pbmserv.service import watch

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
LONG = "an-old-friend-of-you"
LONGER = (LONG, "a-friend-of-a-friend", "and-one-more-of-them")
NO_LETTERS = {"pieces"}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> list[Posted]:
    """Letters of every kind, in the order of a story."""
    return [
        *_accounts(tmp_path_factory.mktemp("accounts")),
        *_boards(tmp_path_factory.mktemp("boards")),
    ]


def _accounts(folder: Path) -> Iterator[Posted]:
    with indoors(folder, signup="confirm") as server:
        (asked,) = server.send(ALICE, f"signup alice {PASSWORD}")
        yield asked
        yield from server.reply(asked, "yes")
        (unwanted,) = server.send(BOB, f"signup bob {PASSWORD}")
        yield from server.reply(unwanted, "reject")
        yield from server.send(BOB, f"signup bobby {PASSWORD} bob@a.example bob@b.example")
        yield from server.send(BOB, f"signup alice {PASSWORD}")
        yield from server.send(BOB, "forgot alice")
        (reset,) = server.send(ALICE, "forgot alice")
        yield reset
        yield from server.reply(reset, "password another-word")
        yield from server.send(ALICE, "forgot nobody-at-all")
        yield from server.send(ALICE, "blackbox mvoe 12 alice")
        yield from server.send(ALICE, "blackbox games alice")
        for subject in ("", "moves", "replies", "times", "tutorial", "blackbox", "nonsense"):
            yield from server.send(ALICE, f"help {subject}")
        for command in ("move", "challenge", "signup", "show", "message", "change password"):
            yield from server.send(ALICE, f"help {command}")


def _boards(folder: Path) -> Iterator[Posted]:
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", *LONGER)
        yield from server.send(ALICE, "list")
        yield from server.send(ALICE, f"message alice {PASSWORD} bob carol", "Good morning!")
        asked, own = server.send(ALICE, "blackbox challenge bob alice -atoms=2-5 -clue", "Tea?")
        yield from (asked, own)
        yield from server.reply(own, "chat\nStill there?")
        yield from server.reply(asked, "accept\nWith pleasure.")
        yield from server.reply(asked, "b3,d3")
        yield from server.reply(own, "b3,d3,e5\n\nGood luck!")
        yield from server.reply(asked, "b3,d3")
        yield from server.send(BOB, f"blackbox move 1 bob {PASSWORD} g,+b2", "My first.")
        yield from server.send(BOB, f"blackbox move 1 bob {PASSWORD} +b7,!c", "Hm.")
        yield from server.send(CAROL, "blackbox show 1#2")
        yield from server.send(CAROL, "blackbox games alice bob")
        yield from server.send(
            ALICE,
            "multiple",
            f"blackbox showas alice {PASSWORD} 1\nlist\nmvoe 3\nhelp\nblackbox games alice\n"
            f"blackbox show 1\nblackbox challenge alice carol\nforgot alice\n"
            f"message alice {PASSWORD} bob",
        )
        yield from server.send(BOB, f"blackbox resign 1 bob {PASSWORD}")
        yield from server.send(CAROL, "blackbox show 1")
        yield from server.send(CAROL, f"blackbox reject 2 carol {PASSWORD}")
        yield from server.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")
        yield from server.send(ALICE, "blackbox games alice all")
        yield from server.send(
            address_of(LONG), f"blackbox challenge {LONG} bob -size=26x26 -atoms=40 -fair"
        )
        yield from server.send(address_of(LONG), f"blackbox move 3 {LONG} {PASSWORD} a1")
        yield from server.send(
            address_of(LONG), f"blackbox move 3 {LONG} {PASSWORD} " + "a1," * 200
        )
        yield from server.send(address_of(LONG), f"change password {LONG} {PASSWORD} new-word")
        yield from server.send(BOB, f"blackbox games {' '.join(LONGER)} all")
        yield from server.send(BOB, f"message bob {PASSWORD} {' '.join(LONGER)}", "To all.")
        yield from server.send(ALICE, "multiple", "show " + "x" * 300 + "\nhelp " + "y z " * 99)
        yield from server.send(ALICE, "q" * 300)
        yield from server.send(
            address_of(LONG),
            f"blackbox challenge {LONGER[0]} {LONGER[1]} -guesses=1",
            "Now we two.",
        )
        yield from server.send(BOB, f"blackbox games {LONG}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(watch, "STATUSES", {})  # a fault of our own
            yield from server.send(BOB, "blackbox show bob")


def test_the_story_has_a_letter_of_every_kind(letters: list[Posted]) -> None:
    kinds = {path.name for path in (templates_root() / "letters").iterdir() if path.is_dir()}
    assert {letter.kind for letter in letters} == kinds - NO_LETTERS


def test_every_letter_keeps_the_form(letters: list[Posted]) -> None:
    for letter in letters:
        check_form(letter)


def test_text_and_page_have_the_same_headline(letters: list[Posted]) -> None:
    for letter in letters:
        headline = letter.text.partition("\n\n")[0].replace("-- Reply above this line --", "")
        assert headline.split() == check_form(letter).heading.split()


def test_passwords_stand_in_no_letter(letters: list[Posted]) -> None:
    for letter in letters:
        for part in (letter.text, letter.html, letter.subject, letter.raw.decode("ascii")):
            assert PASSWORD not in part
            assert "another-word" not in part
            assert "new-word" not in part
