"""Duplicate events: how players or operators begin them, and how players play their boards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of

from pbmserv.engine.position import Position, bot_move
from pbmserv.engine.types import Seat
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.events import create_event
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import BoardRow


def begin_duplicate(house: Indoors, game: str, names: Sequence[str], rest: str) -> list[Posted]:
    """Let the first player create event 1, and the others join it; return the letters so far.

    Args:
        rest: name and options of the event.
    """
    creator, *others = names
    with pytest.MonkeyPatch.context() as patch:  # the creator needs no earlier game
        patch.setattr(histories, "of_player", lambda *_: [1])
        create = f"event {creator} {PASSWORD} create {game} duplicate {rest}"
        letters = house.send(address_of(creator), create.rstrip())
    for name in others:
        letters += house.send(address_of(name), f"event {name} {PASSWORD} join 1")
    return letters + house.live(hours=1)


def create_as_operator(house: Indoors, game: str) -> None:
    """Let an operator create event 1, which begins in three days."""
    day = f"{house.server.clock.now() + timedelta(days=3):%Y-%m-%d}"
    create = partial(create_event, kind="duplicate", game=game, starts=day)
    house.operators.do(Signature("olga", "They asked for it."), create)


def board_and_position(house: Indoors, number: int) -> tuple[BoardRow, Position]:
    board = house.server.read(boards.load, number)
    assert board is not None
    return board, house.server.read(house.server.positions.newest, board)


def play_as_bot(
    house: Indoors, name: str, number: int, level: str = "house", *, most: int = 100, to: str = ""
) -> list[Posted]:
    """Let a player make a bot's moves, at most to the end of the board; return the letters.

    Args:
        most: number of moves.
        to: an address; letters to others are left out.
    """
    letters: list[Posted] = []
    for _ in range(most):
        board, position = board_and_position(house, number)
        if position.outcome is not None:
            break
        assert 0 in position.game.to_act(position.state)
        move = bot_move(position, Seat(0), level).text
        line = f"{board.game} move {number} {name} {PASSWORD} {move}"
        house.send_unread(address_of(name), line)
        letters += house.letters(to)
    return letters
