"""Letters of random games: text and page show what the reader may see."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from examples import DEEP
from indoors import Indoors, Posted, address_of, indoors
from letter_reading import (
    boards_in_page,
    boards_in_text,
    boards_in_view,
    check_form,
    seen_in,
)
from random_moves import some_move, some_options

from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow

pytestmark = pytest.mark.slow

ALICE, BOB = "alice", "bob"
GAMES = 40 if DEEP else 2

Played = tuple[int, list[Posted]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("letters")) as opened:
        opened.sign_up(ALICE, BOB)
        yield opened


def record(server: Indoors, board: int) -> BoardRow:
    row = server.server.read(boards.load, board)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def games(server: Indoors) -> list[Played]:
    """Games of all sizes, each with the board's number and its letters."""
    return [play(server, random.Random(seed), mails=9) for seed in range(GAMES)]


def play(server: Indoors, dice: random.Random, mails: int) -> Played:
    """A board, and all letters of a game of so many mails."""
    names = dice.sample((ALICE, BOB), 2)
    letters = server.send(
        address_of(names[0]), f"blackbox challenge {' '.join(names)} {some_options(dice)}"
    )
    board = letters[0].board
    assert board is not None
    for _ in range(mails):
        newest = {letter.recipient: letter for letter in letters}
        last = newest[address_of(dice.choice(names))]
        row = record(server, board)
        shown = seen_in(server, last)
        command = "chat\nNice weather." if dice.random() < 0.1 else some_move(shown, dice)
        letters += server.reply(last, command)
        if row.status == "finished":
            break
    letters += server.send(address_of(BOB), f"blackbox show {board}")
    return board, letters


@pytest.mark.parametrize("number", range(GAMES))
def test_text_and_page_draw_what_their_reader_may_see(
    server: Indoors, games: list[Played], number: int
) -> None:
    board, letters = games[number]
    names = record(server, board).names
    for letter in letters:
        page = check_form(letter, own_words="Nice weather" not in letter.text)
        view = seen_in(server, letter)
        if letter.kind not in {"board", "result", "refusal", "show"}:
            assert page.boards == []
            continue
        expected = boards_in_view(view, names)
        assert boards_in_text(letter.text, view.options.width, view.options.height) == expected
        drawn = boards_in_page(view, names, alone=letter.kind == "show")
        assert page.boards == ([] if letter.kind == "refusal" else drawn)


@pytest.mark.parametrize("number", range(GAMES))
def test_text_and_page_say_the_same_about_the_turn(
    server: Indoors, games: list[Played], number: int
) -> None:
    board, letters = games[number]
    row = record(server, board)
    for letter in letters:
        page = check_form(letter, own_words=False)
        view = seen_in(server, letter)
        text = letter.one_line
        if letter.kind in {"board", "result"} and letter.ply and not waits(letter):
            mine = letter.seat in view.to_act
            for heading in (letter.text.partition("\n\n")[0], page.heading):
                if view.outcome:
                    assert f"board {board}" in heading
                    assert "move" not in heading
                else:
                    assert ("Your move" in heading) == mine
                    others = [row.names[seat] for seat in view.to_act if seat != letter.seat]
                    assert all(name in heading for name in others)
        if letter.kind == "board" and view.has_hidden and not view.outcome:
            left = f"{view.own.guesses_left} guess"
            assert left in text
            assert left in page.text
        for line in letter.text.splitlines():
            if line.startswith("* "):
                assert line[2:] in page.text


def waits(letter: Posted) -> bool:
    return "to accept" in letter.text
