"""Rows of boards that wait for a confirmation.

Anybody can ask for a board in a player's name without proving to be that player; such a board is
created when the player confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from pbmserv.engine.clocks import Terms
from pbmserv.store.core.statements import (
    add_numbered_row,
    change_rows,
    columns_of,
    delete_rows,
    first_row,
    values_of,
)
from pbmserv.store.tables.boards import unconfirmed_boards


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A board that waits for a confirmation.

    Attributes:
        options: canonical words.
        sitting: player ids by seat.
        replayed: board whose box it will have, if it is a copy.
        board_id: board that was created from it; `None` before.
    """

    player_id: int
    game: str
    options: tuple[str, ...]
    sitting: tuple[int, ...]
    terms: Terms
    replayed: int | None
    created_at: datetime
    board_id: int | None = None


def add(connection: Connection, board: Unconfirmed) -> int:
    """Store a board that waits for a confirmation; return its number."""
    return add_numbered_row(connection, unconfirmed_boards, **values_of(board, unconfirmed_boards))


def lock(connection: Connection, number: int) -> Unconfirmed | None:
    """Return a row and lock it until the end of the transaction."""
    statement = (
        select(*columns_of(Unconfirmed, unconfirmed_boards))
        .where(unconfirmed_boards.c.id == number)
        .with_for_update()
    )
    return first_row(connection, Unconfirmed, statement)


def note_created(connection: Connection, number: int, board_id: int) -> None:
    """Note the board that was created."""
    change_rows(connection, unconfirmed_boards, {"id": number}, board_id=board_id)


def drop(connection: Connection, number: int) -> None:
    """Delete a board that its player does not want."""
    delete_rows(connection, unconfirmed_boards, id=number)
