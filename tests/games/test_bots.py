"""Bots are no insult: they win, block, beat weaker ones, and think for a second or two."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from chess_positions import of_fen
from examples import DEEP
from rows import rows

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, bot_move, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng
from pbmserv.engine.types import Seat
from pbmserv.game.search import Effort, monte_carlo
from pbmserv.games import chess, go, tictactoe


def chance(seed: int) -> Any:
    return CountedRng(Rng(b"bots", seed))


def test_tic_tac_toe_is_perfect() -> None:
    """The bot never loses, whatever the other one does."""

    def plays_on(state: str, bot: int, seat: int) -> None:
        result = tictactoe.GAME.over(state)
        if result is not None:
            assert result.places[bot] == 1
            return
        if seat == bot:
            moves = [tictactoe.GAME.bots["house-best"](state, seat, chance(len(state)))]
        else:
            moves = tictactoe.GAME.moves(state, seat)
        for move in moves:
            plays_on(tictactoe.GAME.play(state, seat, move, chance(0)), bot, 1 - seat)

    for first in ("B2", "A1", "B1") if DEEP else ("A1",):
        plays_on(tictactoe.GAME.play("." * 9, 0, first, chance(0)), 1, 1)


@rows(("state", "move"), [("XX.OO....", "C1"), ("OO.X.X...", "B2"), ("OO.X.....", "C1")])
def test_a_search_by_random_games_wins_and_blocks(state: str, move: str) -> None:
    assert monte_carlo(tictactoe.GAME, state, 0, chance(1), playouts=500) == move


@rows(
    ("fen", "move"),
    [
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7"),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8"),
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5"),
    ],
)
def test_chess_sees_a_mate_and_a_queen(fen: str, move: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(Effort, "share", 0.1)
    for level in ("house", "house-best"):
        assert chess.GAME.bots[level](of_fen(fen), 0, chance(1)) == move


@rows(("seat", "handicap", "passes"), [(0, 0, True), (0, 9, False), (1, 0, False), (1, 9, True)])
def test_go_passes_after_a_pass_if_it_leads(
    seat: int, handicap: int, passes: bool, monkeypatch: Any
) -> None:
    """Black has 45 points, and white 36 and half a one, beside those for handicap stones."""
    monkeypatch.setattr(Effort, "share", 0.1)
    board = f"..{'X' * 43}{'O' * 34}.."
    state = go.Position(board, frozenset(), twice_komi=1, passes=1, handicap=handicap)
    assert (go.GAME.bots["house"](state, seat, chance(1)) == "pass") is passes


def begun(name: str, seed: int = 0) -> Position:
    game = AdaptedGame(import_module(f"pbmserv.games.{name}").GAME)
    seats, version = game.info.min_seats, game.info.rules_version
    return opening(game, GameRecord(game.info.key, version, seats, (), bytes([seed]) * 32))


@pytest.mark.slow
@rows("name", ["backgammon", "battleships", "connect4"] if DEEP else ["battleships"])
def test_a_better_bot_wins_more(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best bot against the easy one, with a part of its budget."""
    won = 0.0
    for seed in range(4):
        position = begun(name, seed)
        while position.outcome is None and position.number < 200:
            seat = Seat(min(position.game.to_act(position.state)))
            level = "house-best" if seat == seed % 2 else "house-easy"
            monkeypatch.setattr(Effort, "share", 0.05 if level == "house-best" else 1.0)
            position = position.move(seat, bot_move(position, seat, level))
        places = position.outcome.places if position.outcome else (1, 1)
        won += 1 if places[seed % 2] < places[1 - seed % 2] else 0.5 * (places[0] == places[1])
    assert won >= 2.5, won
