"""Rows of moves: those that were played, plans for later turns, and submitted moves."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.engine.record import Ply
from pbmserv.engine.types import Seat
from pbmserv.store.clocks import Times
from pbmserv.store.core.statements import Prepared
from pbmserv.store.tables import boards
from pbmserv.store.tables.boards import plies, seats, submitted_moves

_PLIES = Prepared(
    select(plies.c.number, plies.c.seat, plies.c.text, plies.c.free)
    .where(plies.c.board_id == bindparam("board"), plies.c.number > bindparam("after"))
    .order_by(plies.c.number)
)
_ADD_PLY = Prepared(
    insert(plies), ("board_id", "number", "seat", "text", "free", "mail_id", "created_at")
)
_PLAYED = Prepared(
    update(boards)
    .where(boards.c.id == bindparam("board"))
    .values(plies=bindparam("number"), clocks=bindparam("clocks"), due_at=bindparam("due"))
)
_PLANS = Prepared(
    select(seats.c.seat, seats.c.plan)
    .where(seats.c.board_id == bindparam("board"), seats.c.plan.is_not(None))
    .order_by(seats.c.seat)
)
_SUBMITTED = select(submitted_moves.c.turn, submitted_moves.c.text).where(
    submitted_moves.c.board_id == bindparam("board"),
    submitted_moves.c.seat == bindparam("at"),
)


def record(connection: Connection, board_id: int, after: int = 0) -> list[Ply]:
    """The moves of a board that come after ply *after*."""
    found = _PLIES.rows(connection, {"board": board_id, "after": after})
    return [Ply(row[0], Seat(row[1]), row[2], row[3]) for row in found]


def append(
    connection: Connection,
    board_id: int,
    ply: Ply,
    mail_id: int | None,
    now: datetime,
    times: Times,
) -> None:
    """Log one move and count it; *times* are the clocks after it."""
    _ADD_PLY.run(
        connection,
        {
            "board_id": board_id,
            "number": ply.number,
            "seat": ply.seat,
            "text": ply.text,
            "free": ply.free,
            "mail_id": mail_id,
            "created_at": now,
        },
    )
    _PLAYED.run(
        connection,
        {
            "board": board_id,
            "number": ply.number,
            "clocks": times.kept,
            "due": times.due_at,
        },
    )


def plans(connection: Connection, board_id: int) -> dict[Seat, str]:
    """The canonical plans of a board, by seat."""
    found = _PLANS.rows(connection, {"board": board_id})
    return {Seat(seat): plan for seat, plan in found}


def keep_plan(connection: Connection, board_id: int, seat: Seat, plan: str | None) -> None:
    """Keep a seat's plan in place of the one it had; ``None``: it has none any more."""
    mine = (seats.c.board_id == board_id) & (seats.c.seat == seat)
    connection.execute(update(seats).where(mine).values(plan=plan))


def drop_plans(connection: Connection, board_id: int) -> None:
    """Forget every plan of a board."""
    connection.execute(update(seats).where(seats.c.board_id == board_id).values(plan=None))


def submitted(connection: Connection, board_id: int, seat: Seat) -> tuple[int, str] | None:
    """The turn and text of the move that waits for its player's ``confirm``."""
    row = connection.execute(_SUBMITTED, {"board": board_id, "at": seat}).first()
    return None if row is None else (row.turn, row.text)


def submit(
    connection: Connection, board_id: int, seat: Seat, turn: int, text: str, now: datetime
) -> None:
    """Keep a submitted move in place of the one before."""
    drop_submitted(connection, board_id, seat)
    connection.execute(
        insert(submitted_moves).values(
            board_id=board_id, seat=seat, turn=turn, text=text, created_at=now
        )
    )


def drop_submitted(connection: Connection, board_id: int, seat: Seat) -> None:
    """Forget a seat's submitted move, if it has one."""
    connection.execute(
        delete(submitted_moves).where(
            submitted_moves.c.board_id == board_id, submitted_moves.c.seat == seat
        )
    )
