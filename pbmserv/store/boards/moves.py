"""Rows of moves, plans and submitted moves."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from pbmserv.engine.clocks import to_json
from pbmserv.engine.record import NOT_PLAYED, Ply
from pbmserv.engine.types import Seat
from pbmserv.store.clocks import Times
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import change_rows, delete_rows
from pbmserv.store.tables.boards import boards, plies, seats, submitted_moves

_PLIES = Prepared(
    select(plies.c.number, plies.c.seat, plies.c.text, plies.c.free, plies.c.mark)
    .where(plies.c.board_id == bindparam("board"), plies.c.number > bindparam("after"))
    .order_by(plies.c.number)
)
_ADD_PLY = Prepared(
    insert(plies), ("board_id", "number", "seat", "text", "free", "mail_id", "created_at", "mark")
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
    """Return the moves of a board after ply *after*."""
    rows = _PLIES.run(connection, {"board": board_id, "after": after})
    return [Ply(row[0], Seat(row[1]), row[2], row[3], row[4] or "") for row in rows]


def last_move_at(connection: Connection, player_id: int, since: datetime) -> datetime | None:
    """Return when a player last moved on any board after a moment, `None` for never."""
    return connection.execute(
        select(plies.c.created_at)
        .join(seats, (seats.c.board_id == plies.c.board_id) & (seats.c.seat == plies.c.seat))
        .where(
            seats.c.player_id == player_id,
            plies.c.created_at > since,
            plies.c.text.not_in(NOT_PLAYED),
        )
        .order_by(plies.c.created_at.desc())
        .limit(1)
    ).scalar()


def add(
    connection: Connection,
    board_id: int,
    added: Iterable[Ply],
    mail_id: int | None,
    now: datetime,
) -> None:
    """Add moves to a board's record without counting them; `append` counts."""
    rows = [
        {
            "board_id": board_id,
            "number": ply.number,
            "seat": ply.seat,
            "text": ply.text,
            "free": ply.free,
            "mail_id": mail_id,
            "created_at": now,
            "mark": ply.mark or None,
        }
        for ply in added
    ]
    if rows:
        _ADD_PLY.run(connection, *rows)


def append(
    connection: Connection,
    board_id: int,
    ply: Ply,
    mail_id: int | None,
    now: datetime,
    times: Times,
) -> None:
    """Add a move and count it; *times* are the clocks after it."""
    add(connection, board_id, (ply,), mail_id, now)
    _PLAYED.run(
        connection,
        {
            "board": board_id,
            "number": ply.number,
            "clocks": to_json(times.clocks),
            "due": times.due_at,
        },
    )


def plans(connection: Connection, board_id: int) -> dict[Seat, str]:
    """Return the canonical plans of a board by seat."""
    rows = _PLANS.run(connection, {"board": board_id})
    return {Seat(seat): plan for seat, plan in rows}


def keep_plan(connection: Connection, board_id: int, seat: Seat, plan: str | None) -> None:
    """Replace a seat's plan; `None` removes it."""
    is_seat = (seats.c.board_id == board_id) & (seats.c.seat == seat)
    connection.execute(update(seats).where(is_seat).values(plan=plan))


def drop_plans(connection: Connection, board_id: int) -> None:
    """Delete every plan of a board."""
    change_rows(connection, seats, {"board_id": board_id}, plan=None)


def submitted(connection: Connection, board_id: int, seat: Seat) -> tuple[int, str] | None:
    """Return turn and text of the move that waits for its player's ``confirm``."""
    row = connection.execute(_SUBMITTED, {"board": board_id, "at": seat}).first()
    return None if row is None else (row.turn, row.text)


def submit(
    connection: Connection, board_id: int, seat: Seat, turn: int, text: str, now: datetime
) -> None:
    """Store a submitted move in place of an earlier one."""
    drop_submitted(connection, board_id, seat)
    connection.execute(
        insert(submitted_moves).values(
            board_id=board_id, seat=seat, turn=turn, text=text, created_at=now
        )
    )


def drop_submitted(connection: Connection, board_id: int, seat: Seat) -> None:
    """Delete a seat's submitted move."""
    delete_rows(connection, submitted_moves, board_id=board_id, seat=seat)
