"""Boards as operators list and change them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update

from pbmserv.engine.clocks import Terms
from pbmserv.store.accounts.leaving import fail_unsent
from pbmserv.store.boards import boards as board_rows
from pbmserv.store.boards import player_boards
from pbmserv.store.core.statements import change_rows, delete_rows
from pbmserv.store.tables.boards import BoardStatus, boards, followers, seats, submitted_moves
from pbmserv.store.tables.mail import outbox


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board in a list."""

    id: int
    game: str
    status: BoardStatus
    names: tuple[str, ...]
    plies: int
    created_at: datetime
    due_at: datetime | None


def board_lines(
    connection: Connection, status: str | None, game: str | None, player_id: int | None, most: int
) -> list[BoardLine]:
    """Return boards with this status, game and player (`None`: any), newest first."""
    statement = select(
        boards.c.id,
        boards.c.game,
        boards.c.status,
        boards.c.plies,
        boards.c.created_at,
        boards.c.due_at,
    )
    if status:
        statement = statement.where(boards.c.status == status)
    if game:
        statement = statement.where(boards.c.game == game)
    if player_id is not None:
        own = select(seats.c.board_id).where(seats.c.player_id == player_id)
        statement = statement.where(boards.c.id.in_(own))
    rows = list(connection.execute(statement.order_by(boards.c.id.desc()).limit(most)))
    names = board_rows.userids_of(connection, [row.id for row in rows])
    return [
        BoardLine(
            row.id, row.game, row.status, names[row.id], row.plies, row.created_at, row.due_at
        )
        for row in rows
    ]


def board_counts(connection: Connection) -> dict[tuple[str, int, str], int]:
    """Return the number of boards by game, rules version and status."""
    kind = (boards.c.game, boards.c.rules_version, boards.c.status)
    rows = connection.execute(select(*kind, func.count()).group_by(*kind))
    return {(game, version, status): count for game, version, status, count in rows}


def hand_over(
    connection: Connection, board_id: int, old: int, new: int, now: datetime
) -> list[int]:
    """Give every seat of one player at a board to another, without plans; return the seats.

    Unsent letters about the board to the old player are dropped: they would show the secrets of
    the new one.
    """
    is_old = (seats.c.board_id == board_id) & (seats.c.player_id == old)
    numbers = list(connection.execute(select(seats.c.seat).where(is_old)).scalars())
    connection.execute(
        update(seats).where(is_old).values(player_id=new, accepted_at=now, plan=None, note=None)
    )
    player_boards.remove(connection, old, board_id)
    player_boards.refresh(connection, board_id)
    not_drawn = update(boards).where(boards.c.id == board_id).values(sides_drawn=False)
    connection.execute(not_drawn)  # among other players
    connection.execute(
        delete(submitted_moves).where(
            submitted_moves.c.board_id == board_id, submitted_moves.c.seat.in_(numbers)
        )
    )
    delete_rows(connection, followers, board_id=board_id, player_id=new)
    about_board = (outbox.c.player_id == old) & (outbox.c.board_id == board_id)
    fail_unsent(connection, about_board, "the seat was given to another player")
    return numbers


def set_rated(connection: Connection, board_id: int, *, rated: bool) -> None:
    """Set whether a board's result counts for the ratings."""
    change_rows(connection, boards, {"id": board_id}, rated=rated)


def set_terms(connection: Connection, board_id: int, terms: Terms) -> None:
    """Set the time limits of a board."""
    values = board_rows.columns_of_terms(terms)
    change_rows(connection, boards, {"id": board_id}, **values)
