"""Dice and deals on the boards of a duplicate event: the same for all, with whatever moves."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from examples import DEEP

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import DUPLICATE, GameRecord, Ply
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Illegal, OptionError
from pbmserv.game import After, Game, Rng, win
from pbmserv.games import backgammon, chess, liar

SEED = bytes(range(32))
_ROLL = re.compile(r"(?:rolled|begins with) ([1-6]) and ([1-6])")


def _played(game: AdaptedGame, words: tuple[str, ...], chooser: int, seed: bytes) -> Position:
    """Return the end of a board whose players move at random."""
    record = GameRecord(game.info.key, game.info.rules_version, 2, (*words, DUPLICATE), seed)
    position, choose = opening(game, record), Random(chooser)
    while position.outcome is None:
        seat = min(game.to_act(position.state))
        moves = list(game.view(position.state, seat).moves)
        calm = [move for move in moves if move not in {"double", "drop"}]
        position = position.move(
            seat, Move(choose.choice(calm if choose.random() < 0.9 else moves))
        )
    return position


def _rolls(end: Position) -> list[list[tuple[str, ...]]]:
    """Return the rolls of each game of a match, from the second one on."""
    games: list[list[tuple[str, ...]]] = [[]]
    for position in reversed(list(end.backwards())):
        for note in position.step.notes:
            text = str(note.values.get("text", ""))
            for roll in _ROLL.finditer(text):
                if "begins with" in text:
                    games.append([])
                games[-1].append(roll.groups())
    return games


@pytest.mark.parametrize(("words", "games"), [(("-match=3",), 1), (("-match=3", "-cube=no"), 2)])
def test_roll_n_of_game_k_is_the_same_for_all(words: tuple[str, ...], games: int) -> None:
    game = AdaptedGame(backgammon.GAME)
    ends = [_played(game, words, chooser, SEED) for chooser in range(3 if DEEP else 2)]
    boards = [_rolls(end) for end in ends]
    boards.append(_rolls(_played(game, words, 9, bytes(32))))
    first, *others, foreign = boards
    assert min(map(len, boards)) >= games
    assert len({tuple(map(len, board)) for board in boards}) > 1  # they were played differently
    for other in others:
        for rolls, others_rolls in zip(first, other, strict=False):
            shorter = min(len(rolls), len(others_rolls))
            assert rolls[:shorter] == others_rolls[:shorter]
    assert first[0][:9] != foreign[0][:9]
    for end in ends:  # a cube in the last game of a match makes no win larger
        assert end.outcome is not None
        assert max(end.outcome.scores) <= 3


def test_deal_n_is_the_same_for_all() -> None:
    game = AdaptedGame(liar.GAME)
    boards = []
    for chooser in range(3):
        positions = reversed(list(_played(game, (), chooser, SEED).backwards()))
        dice = [sum(position.state.state.dice, ()) for position in positions]
        boards.append([sorted(deal) for deal in dict.fromkeys(dice)])
    # The players lose dice in another order, so only the dice of both together are the same.
    first, *others = boards
    for other in others:
        assert first[: len(other)] == other[: len(first)]


def test_a_mail_is_not_mixed_in() -> None:
    """No draw waits for those who accept, and a mark changes nothing."""
    game = AdaptedGame(backgammon.GAME)
    record = GameRecord("backgammon", 1, 2, (DUPLICATE,), SEED)
    start = opening(game, record)
    assert start.is_duplicate
    assert not start.draws
    with pytest.raises(Illegal):
        start.play(Ply(1, Seat(0), "join", free=True, mark="0" * 32))
    seat = min(game.to_act(start.state))
    move = Move(game.view(start.state, seat).moves[0])
    plain, marked = start.move(seat, move), start.move(seat, move, "0" * 32)
    assert plain.state == marked.state
    assert marked.chance == SEED


def test_nobody_sees_how_often_a_game_has_drawn() -> None:
    game = AdaptedGame(backgammon.GAME)
    end = _played(game, (), 1, SEED)
    assert end.state.dealt > (0, 1)
    assert game.view(end.state, Seat(0)).table.dealt == (0, 0)


class Late(Game[int]):
    """Roll a die.

    Whoever rolls a six wins.
    """

    key, title, chance, draws = "late", "Late dice", True, False

    def start(self, seats: int, options: Any, rng: Rng) -> int:
        return 0

    def moves(self, state: int, seat: int) -> list[str]:
        return ["roll"]

    def play(self, state: int, seat: int, move: str, rng: Rng) -> After[int]:
        return After(rng.below(6) + 1)

    def over(self, state: int) -> Any:
        return win(0) if state == 6 else None

    def show(self, state: int, seat: int | None) -> str:
        return f"The last roll was {state}."


def test_a_game_that_rolls_only_later_says_so() -> None:
    assert AdaptedGame(Late()).has_chance
    assert AdaptedGame(backgammon.GAME).has_chance
    assert not AdaptedGame(chess.GAME).has_chance
    with pytest.raises(OptionError):
        AdaptedGame(chess.GAME).options((DUPLICATE,), 2)
