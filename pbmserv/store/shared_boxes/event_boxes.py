"""Rows of the boxes of an event, with their players."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from pbmserv.store.core.statements import count_rows
from pbmserv.store.shared_boxes.shared_boxes import (
    GIVEN_UP,
    SELECT_BOARDS,
    SELECT_BOX,
    Box,
    SharedBoard,
    is_unfinished,
)
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import boards, seats
from pbmserv.store.tables.boxes import shared_boards, shared_boxes
from pbmserv.store.tables.events import events


@dataclass(frozen=True, slots=True)
class SeatAt:
    """A player's seat at a finished board; `ply` is the last one."""

    board: int
    ply: int
    seat: int


def of_event(connection: Connection, event_id: int) -> list[Box]:
    """Return the boxes of an event in their order."""
    rows = connection.execute(
        SELECT_BOX.where(shared_boxes.c.event_id == event_id).order_by(shared_boxes.c.number)
    )
    return [Box(*row) for row in rows]


def results(
    connection: Connection, event_id: int, player_id: int | None = None
) -> list[SharedBoard]:
    """Return the players of an event's boxes, or one of them, by box."""
    statement = SELECT_BOARDS.where(shared_boxes.c.event_id == event_id)
    if player_id is not None:
        statement = statement.where(shared_boards.c.player_id == player_id)
    statement = statement.order_by(shared_boxes.c.number, shared_boards.c.player_id)
    return [SharedBoard(*row) for row in connection.execute(statement)]


def without_board(connection: Connection, event_id: int, most: int) -> list[int]:
    """Return players of an event who have no boards yet, by id."""
    rows = connection.execute(
        select(shared_boards.c.player_id)
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .where(
            shared_boxes.c.event_id == event_id,
            shared_boards.c.board_id.is_(None),
            shared_boards.c.rank.is_(None),
        )
        .group_by(shared_boards.c.player_id)
        .order_by(shared_boards.c.player_id)
        .limit(most)
    )
    return list(rows.scalars())


def userids(connection: Connection, box_id: int, most: int) -> list[str]:
    """Return players of a box by name."""
    rows = connection.execute(
        select(players.c.userid)
        .join(shared_boards, shared_boards.c.player_id == players.c.id)
        .where(shared_boards.c.box_id == box_id)
        .order_by(players.c.userid)
        .limit(most)
    )
    return list(rows.scalars())


def count_players(connection: Connection, box_id: int) -> int:
    """Return the number of players of a box."""
    return count_rows(connection, shared_boards, shared_boards.c.box_id == box_id)


def unfinished(connection: Connection, event_id: int, most: int) -> list[SharedBoard]:
    """Return boards of an event that somebody still plays."""
    rows = connection.execute(
        SELECT_BOARDS.where(shared_boxes.c.event_id == event_id, shared_boards.c.rank.is_(None))
        .order_by(shared_boards.c.player_id, shared_boxes.c.number)
        .limit(most)
    )
    return [SharedBoard(*row) for row in rows]


def open_until(connection: Connection, player_id: int) -> dict[datetime, list[int]]:
    """Return a player's unfinished boards of such events, by the moment at which these end."""
    rows = connection.execute(
        select(events.c.ends_at, shared_boards.c.board_id)
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .join(events, events.c.id == shared_boxes.c.event_id)
        .where(
            shared_boards.c.player_id == player_id,
            shared_boards.c.board_id.is_not(None),
            shared_boards.c.rank.is_(None),
            events.c.ends_at.is_not(None),
        )
        .order_by(events.c.ends_at, shared_boards.c.board_id)
    )
    by_end: dict[datetime, list[int]] = {}
    for ends_at, board_id in rows:
        by_end.setdefault(ends_at, []).append(board_id)
    return by_end


def given_up_since(
    connection: Connection, event_id: int, player_ids: Collection[int], since: datetime
) -> dict[int, list[SeatAt]]:
    """Return the boards of an event that players gave up from a moment on, by player and box."""
    rows = connection.execute(
        select(shared_boards.c.player_id, boards.c.id, boards.c.plies, seats.c.seat)
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .join(boards, boards.c.id == shared_boards.c.board_id)
        .join(
            seats,
            and_(seats.c.board_id == boards.c.id, seats.c.player_id == shared_boards.c.player_id),
        )
        .where(
            shared_boxes.c.event_id == event_id,
            shared_boards.c.player_id.in_(player_ids),
            shared_boards.c.rank == GIVEN_UP,
            boards.c.finished_at >= since,
        )
        .order_by(shared_boxes.c.number)
    )
    by_player: dict[int, list[SeatAt]] = {}
    for player_id, *place in rows:
        by_player.setdefault(player_id, []).append(SeatAt(*place))
    return by_player


def all_finished(event_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that an event has boxes and all its players have finished them."""
    any_box, open_box = shared_boxes.alias(), shared_boxes.alias()
    return and_(
        exists(select(any_box.c.id).where(any_box.c.event_id == event_id)),
        ~exists(
            select(open_box.c.id).where(
                open_box.c.event_id == event_id, is_unfinished(open_box.c.id)
            )
        ),
    )
