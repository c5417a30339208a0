"""The best bot of Connect Four wins the games that it begins, and keeps a win or a draw."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from examples import DEEP
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng
from pbmserv.game import LETTERS
from pbmserv.games import connect4
from pbmserv.games.connect4 import (
    BOARD,
    BOTTOM,
    GAME,
    Columns,
    either_way,
    forced,
    has_four,
    mirrored,
    winning_cells,
)

EMPTY: Columns = ("",) * 7


def chance(seed: int) -> Any:
    return CountedRng(Rng(b"connect4", seed))


def after(moves: str) -> Columns:
    state = EMPTY
    for number, move in enumerate(moves):
        state = GAME.play(state, number % 2, move, chance(0))
    return state


def best(state: Columns) -> str:
    """Return the move of the best bot, which plans less than in earnest, but proves as much."""
    seat = sum(map(len, state)) % 2
    return LETTERS[connect4.best_column(state, seat, chance(0), 300, 400_000)]


def ended(opponent: Callable[[Columns], str], seat: int) -> tuple[int, ...]:
    """Return the places after a game of the best bot in a seat."""
    state, number = EMPTY, 0
    while (result := GAME.over(state)) is None:
        move = best(state) if number % 2 == seat else opponent(state)
        state, number = GAME.play(state, number % 2, move, chance(0)), number + 1
    return result.places


def anybody(seed: int, first: str = "") -> Callable[[Columns], str]:
    draws = random.Random(seed)

    def move(state: Columns) -> str:
        return first if first and state == EMPTY else draws.choice(list(GAME.moves(state, 0)))

    return move


def house(level: str) -> Callable[[Columns], str]:
    return lambda state: GAME.bots[level](state, sum(map(len, state)) % 2, chance(1))


OPPONENTS = [*map(anybody, (0, 2, 3, 6)), house("house-easy")]
HARD = [house("house")]


@rows("opponent", [*OPPONENTS, *HARD] if DEEP else OPPONENTS[1:])
def test_the_bot_wins_the_games_that_it_begins(opponent: Callable[[Columns], str]) -> None:
    assert ended(opponent, 0) == (1, 2)


@rows(
    ("first", "seed"),
    [("A", 0), ("C", 1), ("C", 3), ("D", 0), ("D", 1), ("E", 0), ("E", 1), ("G", 0)],
)
def test_the_bot_wins_as_second_player_against_anybody(first: str, seed: int) -> None:
    assert ended(anybody(seed, first), 1) == (2, 1)


@rows(
    ("moves", "good"),
    # Random positions with one or two good moves, which another solver has found.
    [
        ("EDBADDEEEFEFGADD", "B"),
        ("DBBAAFDGFGBGEE", "G"),
        ("DGADGEBAFCEEBEB", "B"),
        ("BDBCEABBFCEDB", "CD"),
        ("EGGECFABADECDEBGGE", "D"),
        ("ACGBDCDEAEDDGBBCEA", "C"),
        ("FBAFBFAGEBFA", "CD"),
        ("CFCFAFFCDBBBFADBCD", "A"),
        ("ECGDECAAGFBCC", "DF"),
        ("EFEEEFGCDDC", "DF"),
        ("AEFDCEEFACCAECBCGA", "D"),
        ("GEAFGEAFFFEEBFFAEG", "D"),
        ("GAGFABCACFDCFDB", "BD"),
        ("BDAEFDAEBADGEBGC", "CD"),
    ],
)
def test_the_bot_keeps_a_win_or_a_draw(moves: str, good: str) -> None:
    assert best(after(moves)) in good


def test_the_book_has_no_gaps_in_the_opening() -> None:
    """Whatever the other player does, the bot has a move of the book or a quick win as long as
    there are fewer than eight discs."""
    book, reached = connect4.book(), set[int]()

    def meet(mine: int, taken: int) -> None:
        key = min(mine + taken, mirrored(mine + taken))
        if key in reached or winning_cells(mine, taken) & (taken + BOTTOM):
            return
        if key not in book:
            assert taken.bit_count() >= 8 or forced(mine, taken, 3) is not None
            return
        reached.add(key)
        column = either_way(mine, mine ^ taken, lambda mine, theirs: book[2 * mine + theirs])
        cell = (taken + BOTTOM) & BOARD & connect4.COLUMN << 7 * column
        assert cell, "the column is full"
        for reply in replies(taken | cell):
            if not has_four((mine ^ taken) | reply):
                meet(mine | cell, taken | cell | reply)

    def replies(taken: int) -> list[int]:
        cells = (taken + BOTTOM) & BOARD
        return [cell for column in connect4.COLUMNS if (cell := cells & column)]

    meet(0, 0)
    for first in replies(0):
        meet(0, first)
    assert len(reached) > 2_000
