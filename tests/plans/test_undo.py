"""An undo is a ply of its own: the log keeps everything, and the board is as it was before."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.position import Position, opening, replay
from pbmserv.engine.record import UNDO, GameRecord, Ply
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME

ALICE, BOB = Seat(0), Seat(1)
RECORD = GameRecord("blackbox", 1, 2, (), b"seed")


def after(*plies: tuple[Seat, str]) -> Position:
    position = opening(GAME, RECORD)
    for seat, text in plies:
        if text == UNDO:
            position = position.undo(seat)
        else:
            view = GAME.view(position.state, seat)
            position = position.move(seat, GAME.parse(view, text))
    return position


def record(position: Position) -> GameRecord:
    plies: list[Ply] = []
    at: Position | None = position
    while at is not None and at.ply is not None:
        plies.insert(0, at.ply)
        at = at.before
    return replace(RECORD, plies=tuple(plies))


HIDDEN = ((ALICE, "b3,d3,a1,f2"), (BOB, "c3,b5,e5,g6"))


@given(st.lists(st.sampled_from(["+b2", "+c2", "/b2", "!d4", UNDO]), max_size=30))
def test_undo_is_the_same_as_never(words: list[str]) -> None:
    position = after(*HIDDEN)
    stack = []
    for word in words:
        if word != UNDO:
            stack.append(word)
        elif stack:
            stack.pop()
        else:
            continue
        position = (
            position.undo(ALICE)
            if word == UNDO
            else position.move(ALICE, GAME.parse(GAME.view(position.state, ALICE), word))
        )
    assert position.state == after(*HIDDEN, *[(ALICE, word) for word in stack]).state
    assert replay(GAME, record(position))[-1].state == position.state
