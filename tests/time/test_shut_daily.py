"""A day's box stays shut, everywhere, for a player who has given it up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from solutions import atoms_in, box_of, solution
from sqlalchemy import select

from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    """A server at noon, UTC."""
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        yield server


def daily_of(house: Indoors, userid: str) -> Posted:
    letters = house.send(address_of(userid), f"blackbox daily {userid} {PASSWORD} 07:30")
    (letter,) = [letter for letter in letters if letter.kind == "daily"]
    return letter


def wrong_guess(cells: Sequence[str]) -> str:
    """A guess that is wrong about one atom."""
    free = next(cell for cell in ("A1", "B1", "C1", "D1", "E1", "F1") if cell not in cells)
    return ",".join(f"+{cell}" for cell in (free, *cells[1:])) + ",?"


def opens(letter: Posted, box: str, cells: Sequence[str]) -> bool:
    """Return whether a letter or its files reveal the box, apart from the reader's own markers."""
    whole = letter.raw.decode()
    files = [part.get_content() for part in letter.message.iter_attachments()]
    texts = (whole, letter.text, letter.html if letter.has_html else "", *map(str, files))
    named = any(f"at {cells[0]}, {cells[1]}" in text for text in texts)
    drawn = any(ATOM.search(text) for text in texts)
    return named or drawn or any(box in text for text in texts)


ATOM = re.compile(r"[ ?x]@\||\?x\||>\??@<")
"""A cell with an atom, or a marker told to be wrong, as letters draw them."""

ENDS = ("resign", "wrong guess")


def end(house: Indoors, letter: Posted, how: str) -> list[Posted]:
    if how == "wrong guess":
        return house.reply(letter, wrong_guess(atoms_in(box_of(house.server, letter.board))))
    return house.reply(letter, how)


def looks(house: Indoors, letter: Posted) -> Iterator[Posted]:
    """Return all letters that its player can get about the box after the end."""
    board = letter.board
    for line in (
        "show",
        "showas",
        "record",
        "replay",
        "save",
        "report",
        "hint",
        "check",
        "1",
        "undo",
        "rematch",
    ):
        yield from house.reply(letter, line)
    for line in (
        f"blackbox show {board}",
        f"blackbox show {board}#1",
        f"blackbox showas alice {PASSWORD} {board}",
        f"blackbox showas alice {PASSWORD} {board}#1",
        f"blackbox showas alice {PASSWORD} {board}#2",
        f"blackbox record {board}",
        f"blackbox replay {board} alice",
        f"blackbox save {board} alice {PASSWORD}",
        f"blackbox report {board}",
        "blackbox history alice",
        f"export alice {PASSWORD}",
    ):
        yield from house.send(ALICE, line)


@pytest.mark.parametrize("how", ENDS)
def test_other_players_learn_nothing_of_the_box_before_the_day_is_over(
    house: Indoors, how: str
) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} report=always")
    letter = daily_of(house, "alice")
    game = box_of(house.server, letter.board)
    box, cells = game.text.partition(":")[2], atoms_in(game)
    (moved,) = house.reply(letter, "1")
    ended = end(house, moved, how)
    assert [letter.kind for letter in ended] == ["result"]
    assert "stays shut" in ended[0].one_line
    for text in (*ended, *looks(house, letter)):
        assert not opens(text, box, cells), (text.kind, text.text)
    with house.server.database.reading.connect() as connection:
        for row in connection.execute(select(outbox.c.letter, outbox.c.words)):
            assert box not in json.dumps(row.words), row.letter
    house.live(hours=13)
    (shown,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {letter.board}")
    assert opens(shown, box, cells), shown.text
    assert "Nothing is hidden any more." in shown.text
    (record,) = house.send(ALICE, f"blackbox record {letter.board}")
    assert record.kind == "record"


def test_a_player_who_solved_the_box_may_see_it(house: Indoors) -> None:
    letter = daily_of(house, "alice")
    game = box_of(house.server, letter.board)
    box, cells = game.text.partition(":")[2], atoms_in(game)
    (result,) = house.reply(letter, solution(game))
    assert opens(result, box, cells)
    (record,) = house.reply(result, "record")
    assert record.kind == "record"


def test_the_box_stays_shut_while_a_player_is_still_solving_it(house: Indoors) -> None:
    letter, other = daily_of(house, "alice"), daily_of(house, "bob")
    game = box_of(house.server, letter.board)
    box, cells = game.text.partition(":")[2], atoms_in(game)
    house.reply(letter, "solve")
    house.live(hours=13)
    (shown,) = house.reply(letter, "show")
    assert not opens(shown, box, cells)
    house.reply(other, solution(game))
    (shown,) = house.reply(letter, "show")
    assert opens(shown, box, cells)
