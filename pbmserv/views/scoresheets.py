"""The record of a finished board with its players and result, as letters open it."""

from __future__ import annotations

from sqlalchemy import Connection

from pbmserv.engine.position import Position
from pbmserv.engine.record import Scoresheet, result_of
from pbmserv.store.boards import histories
from pbmserv.store.boards.boards import BoardRow


def scoresheet_of(connection: Connection, board: BoardRow, last: Position) -> Scoresheet:
    """Return the record of a finished board.

    Args:
        last: the position after all plies.
    """
    outcome, ended = last.outcome, histories.ended_at(connection, board.id)
    assert outcome is not None
    return Scoresheet(
        last.full_record,
        board.names,
        board.id,
        f"{ended:%Y-%m-%d}" if ended else "",
        result_of(board.names, outcome.places, outcome.reason),
        board.sides_drawn,
    )
