"""Random games agree with OpenSpiel move by move."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng
from pbmserv.game import After
from pbmserv.games import backgammon, connect4, go, reversi
from pbmserv.games import hex as hex_game

try:
    import pyspiel
except ImportError:
    pyspiel = None

NO_DICE: Any = CountedRng(Rng(b"oracle", 0))
SEEDS = range(4)


@pytest.fixture(autouse=True)
def _require_open_spiel() -> None:
    if pyspiel is None:
        warnings.warn("open-spiel is missing: no game was compared with it", stacklevel=1)
        pytest.skip("MISSING: pip install open-spiel compares the rules with an oracle")


def after(game: Any, state: Any, seat: int, move: str) -> Any:
    done = game.play(state, seat, move, NO_DICE)
    return done.state if isinstance(done, After) else done


def agrees(game: Any, state: Any, oracle: Any, name: Any, seed: int, longest: int = 500) -> Any:
    """Play both at random; *name* makes our move of an action. The last states."""
    draws = random.Random(seed)
    for _ in range(longest):
        result = game.over(state)
        assert (result is not None) == oracle.is_terminal()
        if result is not None:
            wins = [1.0 if place == min(result.places) else -1.0 for place in result.places]
            assert (wins if len(set(wins)) == 2 else [0, 0]) == list(oracle.returns())
            break
        seat = oracle.current_player()
        ours = set(game.moves(state, seat))
        theirs = {name(action): action for action in oracle.legal_actions()}
        if theirs.keys() == {None}:
            assert not ours
            oracle.apply_action(theirs[None])
            continue
        assert ours == theirs.keys()
        move = draws.choice(sorted(ours))
        state = after(game, state, seat, move)
        oracle.apply_action(theirs[move])
    return state, oracle


@rows("seed", SEEDS)
def test_connect_four(seed: int) -> None:
    oracle = pyspiel.load_game("connect_four").new_initial_state()
    state = connect4.GAME.start(2, {}, NO_DICE)
    agrees(connect4.GAME, state, oracle, lambda action: "ABCDEFG"[action], seed)


@rows("seed", SEEDS)
def test_reversi(seed: int) -> None:
    oracle = pyspiel.load_game("othello").new_initial_state()
    state = reversi.GAME.start(2, {"size": 8}, NO_DICE)

    def name(action: int) -> str | None:
        return None if action == 64 else reversi.names(8)[action]

    agrees(reversi.GAME, state, oracle, name, seed)


@rows("seed", SEEDS)
def test_hex(seed: int) -> None:
    oracle = pyspiel.load_game("hex", {"board_size": 11}).new_initial_state()
    state = hex_game.GAME.start(2, {"size": 11}, NO_DICE)
    agrees(hex_game.GAME, state, oracle, lambda action: hex_game.names(11)[action], seed)


@rows("seed", SEEDS)
def test_go(seed: int) -> None:
    """Legal moves to the end of a random game, and the area score."""
    oracle = pyspiel.load_game("go", {"board_size": 9, "komi": 7.5}).new_initial_state()
    state = go.GAME.start(2, {"size": 9, "komi": 7.5, "handicap": 0}, NO_DICE)
    draws = random.Random(seed)
    for _ in range(150):
        seat = oracle.current_player()
        theirs = {
            oracle.action_to_string(action).split()[1].upper(): action
            for action in oracle.legal_actions()
            if action != 81
        }
        ours = {go.names(9)[cell] for cell in go.GAME.legal(state, seat)}
        assert ours == theirs.keys()
        if not ours:
            break
        move = draws.choice(sorted(ours))
        state = after(go.GAME, state, seat, move)
        oracle.apply_action(theirs[move])
    for _ in range(2):
        oracle.apply_action(81)
    assert oracle.is_terminal()
    black, white = go.areas(state.board)
    assert (oracle.returns()[0] > 0) == (black - white > 7.5)


@rows("seed", SEEDS)
def test_backgammon(seed: int) -> None:
    """All positions that the plays of a roll lead to; a double is two rolls there."""
    oracle = pyspiel.load_game("backgammon").new_initial_state()
    draws = random.Random(seed)
    compared = 0
    while not oracle.is_terminal() and compared < 40:
        if oracle.is_chance_node():
            outcomes = [action for action, _ in oracle.chance_outcomes()]
            texts = [oracle.action_to_string(action) for action in outcomes]
            plain = [
                action
                for action, text in zip(outcomes, texts, strict=True)
                if (roll := text.rstrip(")").split(": ")[-1])[0] != roll[1]
            ]
            oracle.apply_action(draws.choice(plain))
            continue
        player = oracle.current_player()
        dice = [int(digit) for digit in str(oracle).split("Dice: ")[1].split("\n")[0].strip()]
        points, bar = men(oracle, player)
        ours = {(tuple(key[:26]), key[26]) for key in backgammon.plays(points, bar, dice)} or {
            (tuple(points), bar)
        }
        theirs = set()
        for action in oracle.legal_actions():
            child = oracle.child(action)
            seen, their_bar = men(child, player)
            theirs.add((tuple(seen), their_bar))
        assert ours == theirs
        compared += 1
        oracle.apply_action(draws.choice(oracle.legal_actions()))


def men(oracle: Any, player: int) -> tuple[list[int], int]:
    """The men of an oracle's position as a player counts the points, and the other's bar."""
    points = [0] * 26
    for place in range(24):
        own = 24 - place if player == 0 else place + 1
        points[own] += oracle.board(player, place) - oracle.board(1 - player, place)
    points[25] = oracle.board(player, BAR)
    return points, oracle.board(1 - player, BAR)


BAR = 100
"""The place of the bar in OpenSpiel."""
