"""Letters stay below what mail programs show, and nobody's words are lost over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.letters.rendering import render_letter

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")
PROSE = "I thought about this for a long while and still do not know. " * 70


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as running:
        running.sign_up("alice", "bob")
        yield running


def begun(server: Indoors, count: int, size: str) -> None:
    for board in range(1, count + 1):
        server.send_unread(ALICE, f"blackbox challenge alice bob -size={size} -atoms=4")
        for who in ("alice", "bob"):
            line = f"blackbox move {board} {who} {PASSWORD} a1,b2,c3,d4"
            server.send_unread(address_of(who), line)
    server.send_unread(BOB, f"prefs bob {PASSWORD} digest=daily@07:30")
    server.drop_letters()


def are_short(letters: Sequence[Posted]) -> None:
    for letter in letters:
        assert len(letter.raw) < 102_000, letter.kind
        if letter.has_html:
            assert len(letter.html.encode()) < 60_000, letter.kind


@pytest.mark.parametrize(
    ("count", "size", "text"),
    [(20, "8x8", PROSE[:3_900]), (4, "26x26", "\u732b" * 3_990)]
    if DEEP
    else [(6, "8x8", '"' * 3_990)],
)
def test_a_digest_of_many_words_is_short_and_has_all_of_them(
    server: Indoors, count: int, size: str, text: str
) -> None:
    """An opponent decides how much is said; the reader sees all of it, in several mails."""
    begun(server, count, size)
    for board in range(1, count + 1):
        server.send_unread(ALICE, f"blackbox move {board} alice {PASSWORD} 1", text)
    server.drop_letters()
    digests = [letter for letter in server.live(hours=24) if letter.recipient == BOB]
    are_short(digests)
    assert {letter.kind for letter in digests} == {"tray"}
    assert len(digests) > 1
    words = "".join("".join(letter.text.split()) for letter in digests)
    assert words.count("".join(text.split())) == count
    everywhere = [inside for letter in digests[1:] for inside in letter.inside]
    assert len(everywhere) < count  # the further ones show only the boards of their words

    last = digests[-1]
    board = last.text.partition('such as "')[2].partition(":")[0]
    reports = server.reply(last, f"{board}: 1")
    assert "done" in reports[0].text


@pytest.mark.parametrize(("count", "size", "in_text"), [(10, "26x26", False), (15, "8x8", True)])
def test_a_report_of_many_boards_leaves_some_undrawn_and_says_how_to_see_them(
    server: Indoors, count: int, size: str, in_text: bool
) -> None:
    begun(server, count, size)
    (report,) = server.send(ALICE, "multiple", f"showas alice {PASSWORD} all")
    are_short([report])
    assert ("The board is not drawn here" in report.text) != in_text
    undrawn = report.html.count("The board is not drawn here")
    assert 0 < undrawn < count
    assert report.html.count("To see it, reply <b>show") == undrawn
    assert report.html.count("the plain text of this letter shows it") == in_text * undrawn
    assert in_text or 'To see it, reply "show' in report.one_line


def test_the_first_boards_of_a_long_digest_are_drawn_best(server: Indoors) -> None:
    """A digest begins with the boards that are nearly due and those with news."""
    begun(server, 10, "16x16")
    for board in range(1, 11):
        server.send_unread(ALICE, f"blackbox move {board} alice {PASSWORD} 1")
    server.drop_letters()
    (digest,) = [letter for letter in server.live(hours=24) if letter.recipient == BOB]
    are_short([digest])
    assert digest.has_html
    boards = digest.text.split("\n" + "=" * 76 + "\n")[1:11]
    is_drawn = ["The board is not drawn here" not in board for board in boards]
    assert set(is_drawn) == {True, False}
    assert is_drawn == sorted(is_drawn, reverse=True)
    links = [board.count("mailto:") for board in re.split("<hr[^>]*>", digest.html)[1:11]]
    assert links[0] > links[-1]
    assert links == sorted(links, reverse=True)


TURNS = ("", "3,+c3,+b5,+d4,!f", "a", "14", "+e6,h", "?")
"""Moves of a game: marks, seals, rays and a wrong guess."""


@pytest.mark.parametrize(("size", "most"), [("7x7", 16_000), ("8x8", 18_000)])
def test_the_html_of_a_turn_is_light(server: Indoors, size: str, most: int) -> None:
    """Players on slow networks, and spam filters, prefer light letters.

    An 8x8 board has up to 96 links of 103 octets each beside the opponent's box.
    """
    server.send(ALICE, f"blackbox challenge alice bob -size={size}")
    turns = []
    for move in ("b3,d3,a1,f2", *TURNS[1:]):
        for who in ("alice", "bob"):
            turns += server.send(address_of(who), f"blackbox move 1 {who} {PASSWORD} {move}")
    boards = [letter for letter in turns if letter.kind == "board"]
    assert len(boards) > 2 * len(TURNS)
    assert max(len(letter.html.encode()) for letter in boards) <= most


def test_letters_without_a_board_carry_no_styles_of_a_game(server: Indoors) -> None:
    (standings,) = server.send(ALICE, "blackbox standings")
    assert ".grid" not in standings.html
    assert ".hit" not in standings.html
    assert len(standings.html.encode()) < 6_000


def test_a_letter_that_would_be_too_long_goes_as_text_alone() -> None:
    """Words are rather kept than made pretty."""
    words = '"' * 20_000
    values: dict[str, Any] = {
        "house": "pbmserv@games.example",
        "userid": "bob",
        "title": "pbmserv",
        "scene": None,
        "words": {"by": "alice", "said": words, "said_to": ""},
    }
    parts = render_letter("message", values)
    assert parts.html == ""
    assert parts.text.count('"') >= len(words)
    assert render_letter("message", {**values, "words": {**values["words"], "said": "Hi!"}}).html
