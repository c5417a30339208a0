"""The house plays by its view: its moves and their duration reveal nothing else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from examples import DEEP
from indoors import Indoors, address_of, indoors

from pbmserv.engine.position import Position, bot_move, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat, Step
from pbmserv.games.blackbox.bots.levels import LEVELS, Level
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.options import Options, draw_cells
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.views import View
from pbmserv.service.bots import bot_worker
from pbmserv.service.rounds import Rounds

ALICE = address_of("alice")
HIDING = "b3,d3,a1,f2"
BOT, PERSON = Seat(0), Seat(1)
WORLDS = 60 if DEEP else 6
KINDS = (("-size=5x5", "-atoms=3"), ("-size=4x4", "-atoms=1-2", "-fair"), ("-size=5x4", "-atoms=2"))


def begun(words: tuple[str, ...], lot: Rng) -> Position:
    """Return a board with all atoms hidden, on which the bot in seat 0 has fired at some ports."""
    position = opening(GAME, GameRecord("blackbox", 1, 2, words, b"fairness" * 4))
    for seat in (BOT, PERSON):
        position = play(position, seat, hidden(position.state.options, lot))
    for _ in range(2 * lot.below(4)):
        seat = min(GAME.to_act(position.state))
        view = GAME.view(position.state, seat)
        position = play(position, seat, lot.choice(view.unused_ports))
    return position


def hidden(options: Options, lot: Rng) -> str:
    return ",".join(map(options.board.name, draw_cells(options, lot)))


def play(position: Position, seat: Seat, text: str) -> Position:
    return position.move(seat, GAME.parse(GAME.view(position.state, seat), text))


def others(state: State, lot: Rng) -> Iterator[State]:
    """The same board in other worlds that the bot cannot tell from this one: other atoms in the box
    that it solves, which explain the same results, and other seals of the person."""
    box, options = state.boxes[BOT], state.options
    assert box.atoms is not None
    real = trace_all(options.board, box.atoms)
    marked = [port for port, mark in enumerate(box.marks) if mark]
    for _ in range(2_000):
        atoms = frozenset(draw_cells(options, lot))
        results = trace_all(options.board, atoms)
        if atoms != box.atoms and all(results[port] == real[port] for port in marked):
            theirs = state.boxes[PERSON]
            sealed = frozenset(lot.sample(options.board.cells, 3)) - theirs.markers
            yield state.with_box(BOT, replace(box, atoms=atoms)).with_box(
                PERSON, replace(theirs, sealed=sealed)
            )


def thought(position: Position, level: str) -> tuple[Move, int]:
    """Return the bot's move, and the number of function calls that it took."""
    calls = 0

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    gc.disable()  # callbacks of the garbage collector would be counted
    sys.setprofile(count)
    try:
        move = bot_move(position, BOT, level)
    finally:
        sys.setprofile(None)
        gc.enable()
    return move, calls


def in_world(position: Position, state: State) -> Position:
    """Return the position with other boxes."""
    return replace(position, step=Step(state, {None: ""}))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_worlds_that_a_level_cannot_tell_apart_get_the_same_move_in_as_much_work(
    level: str,
) -> None:
    lot = Rng(b"worlds", list(LEVELS).index(level))
    compared = 0
    while compared < WORLDS:
        position = begun(KINDS[compared % len(KINDS)], lot)
        if min(GAME.to_act(position.state)) != BOT:
            continue
        bot_move(position, BOT, level)  # fill the caches
        # Neither world has been viewed yet: the view that was made last is kept.
        ours = thought(in_world(position, replace(position.state)), level)
        for number, other in enumerate(islice(others(position.state, lot), 3)):
            world = in_world(position, other)
            if number:
                assert bot_move(world, BOT, level) == ours[0]
            else:  # to count makes it slow
                assert thought(world, level) == ours
            compared += 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as inside:
        inside.sign_up("alice")
        yield inside


def test_the_length_of_a_thought_tells_nothing(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thoughts of 0.02, 0.3 and 0.7 seconds, by a clock that stands still otherwise."""
    clock = [100.0]
    taking = [0.0]
    begins: list[float] = []
    acts: list[float] = []
    worker, moves = server.server.bot_worker, server.server.play_stage.bot_moves
    (letter,) = server.begin(ALICE, "blackbox challenge alice house")
    (letter,) = server.reply(letter, HIDING)
    choose, act = Level.choose, moves.act

    def slow(level: Level, view: View, rng: Rng) -> str:
        begins.append(clock[0])
        clock[0] += taking[0]
        return choose(level, view, rng)

    def noted(*what: Any) -> None:
        acts.append(clock[0])
        act(*what)

    def pause(_rounds: Rounds, seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(bot_worker, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Level, "choose", slow)
    monkeypatch.setattr(Rounds, "pause", pause)
    monkeypatch.setattr(worker, "tick_s", bot_worker.TICK_S)
    monkeypatch.setattr(moves, "act", noted)
    for taking[0] in (0.02, 0.3, 0.7):
        server.reply_unread(letter, letter.text.partition("Ports not used yet:")[2].split()[0])
        (letter,) = server.letters()
        assert "* house fired port" in letter.text
    waited = [then - begin for begin, then in zip(begins, acts, strict=True)]
    assert waited == pytest.approx([0.5, 0.5, 1.0])
