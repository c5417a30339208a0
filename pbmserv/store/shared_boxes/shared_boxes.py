"""Rows of boxes that several players get, and of the players with their boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, insert, select, update

from pbmserv.store.core.statements import columns_of, first_row, insert_into
from pbmserv.store.shared_boxes.day_numbers import number_of
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boxes import shared_boards, shared_boxes

PLAYED, SOLVED, WRONG, GIVEN_UP = -1, 0, 1, 2
"""Ranks of results: a game with dice or deals was played to its end, the box was solved, the last
guess was wrong, or the player gave up or was too late."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box that several players get, or a game against the house with the same dice or deals.

    Attributes:
        options: option words of its boards; those of a box are secret.
        day: the UTC day (days since 1970) of a box of the day; `None` for one of an event.
        event_id, number: the event, and the place of the box in it, from 1.
        seed: the secret seed of all its boards, if it decides dice or deals; `None` for a box.
    """

    id: int
    game: str
    options: tuple[str, ...]
    day: int | None
    event_id: int | None
    number: int | None
    seed: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SharedBoard:
    """A player of a shared box.

    Attributes:
        day, event_id, number: see `Box`.
        board_id: `None` before the player gets the board.
        rank, score: the result, where less is better; `None` while the player plays. The score of a
            game that was played to its end is below 0 if the player has won.
    """

    player_id: int
    userid: str
    box_id: int
    day: int | None
    event_id: int | None
    number: int | None
    board_id: int | None
    rank: int | None
    score: int | None

    @property
    def solved(self) -> bool:
        return self.rank == SOLVED

    @property
    def is_open(self) -> bool:
        """Whether the player has not finished the box."""
        return self.rank is None

    @property
    def daily_number(self) -> int:
        """The public number of a box of the day, 0 for other boxes."""
        return 0 if self.day is None else number_of(self.day)


SELECT_BOX = select(*columns_of(Box, shared_boxes))
SELECT_BOARDS = (
    select(*columns_of(SharedBoard, shared_boards, shared_boxes, players))
    .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
    .join(players, players.c.id == shared_boards.c.player_id)
)
_OF_BOARD = SELECT_BOARDS.where(shared_boards.c.board_id == bindparam("board")).limit(1)


def is_unfinished(box_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a player of a box has not finished it."""
    own = shared_boards.alias()
    return exists(select(own.c.player_id).where(own.c.box_id == box_id, own.c.rank.is_(None)))


def is_secret(board_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a board's box belongs to an event in which it is still played."""
    mine, its_box = shared_boards.alias(), shared_boxes.alias()
    return exists(
        select(mine.c.box_id)
        .join(its_box, its_box.c.id == mine.c.box_id)
        .where(
            mine.c.board_id == board_id,
            its_box.c.event_id.is_not(None),
            is_unfinished(mine.c.box_id),
        )
    )


def add(
    connection: Connection,
    game: str,
    options: Sequence[str],
    *,
    day: int | None = None,
    event_id: int | None = None,
    number: int | None = None,
    seed: bytes | None = None,
) -> Box:
    """Return the box of a day, or the one with a number in an event; *options* and *seed* become it
    if there is none."""
    connection.execute(
        insert_into(connection, shared_boxes)
        .values(
            game=game,
            options=options,
            day=day,
            event_id=event_id,
            number=number,
            seed=seed,
        )
        .on_conflict_do_nothing()
    )
    place = (
        and_(shared_boxes.c.game == game, shared_boxes.c.day == day)
        if event_id is None
        else and_(shared_boxes.c.event_id == event_id, shared_boxes.c.number == number)
    )
    return Box(*connection.execute(SELECT_BOX.where(place)).one())


def give(
    connection: Connection, box_id: int, player_ids: Sequence[int], board_id: int | None = None
) -> None:
    """Note that players get a box, on a board or on one that is made later."""
    rows = [
        {"box_id": box_id, "player_id": player_id, "board_id": board_id} for player_id in player_ids
    ]
    if rows:
        connection.execute(insert(shared_boards), rows)


def set_board(connection: Connection, box_id: int, player_id: int, board_id: int) -> None:
    """Note the board on which a player plays a box."""
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.box_id == box_id, shared_boards.c.player_id == player_id)
        .values(board_id=board_id)
    )


def of_board(connection: Connection, board_id: int) -> SharedBoard | None:
    """Return the shared box of a board, `None` if it has none."""
    return first_row(connection, SharedBoard, _OF_BOARD, {"board": board_id})


def is_played(connection: Connection, box_id: int) -> bool:
    """Return whether a player of a box has not finished it."""
    return bool(connection.execute(select(is_unfinished(bindparam("box", box_id)))).scalar())


def settle(
    connection: Connection,
    box_id: int,
    player_id: int,
    rank: int,
    score: int,
    *,
    counts: bool = True,
) -> None:
    """Store the result of a player.

    Args:
        counts: it is the person's first try.
    """
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.box_id == box_id, shared_boards.c.player_id == player_id)
        .values(rank=rank, score=score, counts=counts)
    )


def give_up(connection: Connection, board_id: int) -> None:
    """Note that a board ends without a result, which is in no table of days."""
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.board_id == board_id, shared_boards.c.rank.is_(None))
        .values(rank=GIVEN_UP, score=0, counts=False)
    )


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's boxes to another, except those that both have got."""
    both = shared_boards.alias()
    has_both = select(both.c.box_id).where(
        both.c.player_id == new, both.c.box_id == shared_boards.c.box_id
    )
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.player_id == old, ~has_both.exists())
        .values(player_id=new)
    )
