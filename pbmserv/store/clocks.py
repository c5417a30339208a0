"""Clocks of boards, in columns of their rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, bindparam, or_, select, update

from pbmserv.engine.clocks import SeatClock, Terms, clocks_after_turn, read_remind, to_json
from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import due_keys, put_off_due
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import RUNNING, boards, seats


@dataclass(frozen=True, slots=True)
class Times:
    """A board's clocks, empty if they have not been started, and the time to check them."""

    clocks: tuple[SeatClock, ...]
    due_at: datetime | None


def opening(
    connection: Connection,
    sitting: Sequence[int],
    waiting: Collection[Seat] | None,
    terms: Terms,
    now: datetime,
) -> Times:
    """Return the times of a new board; if *waiting* is `None`, the scheduler finds out who acts."""
    if waiting is None:
        return Times((), now)
    rows = connection.execute(
        select(players.c.id, players.c.remind).where(players.c.id.in_(sitting))
    )
    wishes = {row.id: row.remind for row in rows}
    terms = replace(terms, alone=False)  # a check that is too early does no harm
    before = [read_remind(wishes.get(player, ""))[0] for player in sitting]
    return Times(
        *clocks_after_turn((SeatClock(),) * len(sitting), waiting, (), now, {}, terms, before)
    )


_LOCK = (
    select(boards.c.id)
    .where(boards.c.id == bindparam("board"))
    .with_for_update(skip_locked=True)  # ignored by SQLite, which has one writer
)
_LOCK_IF_DUE = _LOCK.where(boards.c.due_at <= bindparam("now"))
_SET_TIMES = (
    update(boards)
    .where(boards.c.id == bindparam("board"))
    .values(clocks=bindparam("clocks"), due_at=bindparam("due"))
)


due = partial(due_keys, table=boards)
"""Return boards whose clocks must be checked, longest due first; they are not locked."""
put_off = partial(put_off_due, table=boards)
"""Check a board no earlier than a moment."""


def claim(connection: Connection, board_id: int, now: datetime) -> bool:
    """Lock a due board; return `False` if another process has it or has checked it."""
    return connection.execute(_LOCK_IF_DUE, {"board": board_id, "now": now}).first() is not None


def hold(connection: Connection, board_id: int) -> bool:
    """Lock a board, due or not; return `False` if another process has it."""
    return connection.execute(_LOCK, {"board": board_id}).first() is not None


def set_times(connection: Connection, board_id: int, times: Times) -> None:
    """Store the clocks of a board."""
    values = {"clocks": to_json(times.clocks), "due": times.due_at}
    connection.execute(_SET_TIMES, {"board": board_id, **values})


_SOON_DUE = (
    select(boards.c.id)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(
        seats.c.player_id == bindparam("player"),
        boards.c.due_at <= bindparam("until"),
        boards.c.id != bindparam("but"),
    )
    .order_by(boards.c.due_at)
    .limit(bindparam("most"))
)


def due_of_player(
    connection: Connection, player_id: int, until: datetime, *, except_board: int, most: int
) -> list[int]:
    """Return a player's boards that are due by a moment, except one board."""
    values = {"player": player_id, "until": until, "but": except_board, "most": most}
    return list(connection.execute(_SOON_DUE, values).scalars())


def look_again(connection: Connection, player_id: int, now: datetime) -> None:
    """Let the scheduler check all boards of a player whose absences or preferences changed."""
    connection.execute(
        update(boards)
        .where(
            boards.c.id.in_(select(seats.c.board_id).where(seats.c.player_id == player_id)),
            boards.c.status.in_(RUNNING),
            or_(boards.c.due_at > now, boards.c.due_at.is_(None)),
        )
        .values(due_at=now)
    )
