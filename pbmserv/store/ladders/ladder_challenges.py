"""Rows of challenges of ladders, each with its board."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, update

from pbmserv.store.core.statements import (
    change_rows,
    claim_due,
    columns_of,
    first_row,
    put_off_due,
)
from pbmserv.store.tables.boards import BoardStatus, boards
from pbmserv.store.tables.ladders import ladder_games

ENDED = (BoardStatus.FINISHED, BoardStatus.DECLINED)


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge of a ladder and its board.

    Attributes:
        ended_at: `None` until the result has been carried out.
    """

    board_id: int
    ladder_id: int
    challenger_id: int
    defender_id: int
    begun_at: datetime
    ended_at: datetime | None


_CHALLENGE = select(*columns_of(Challenge, ladder_games))
_DUE = (
    select(ladder_games.c.board_id)
    .join(boards, boards.c.id == ladder_games.c.board_id)
    .where(ladder_games.c.due_at <= bindparam("now"), boards.c.status.in_(ENDED))
    .order_by(func.coalesce(boards.c.finished_at, ladder_games.c.begun_at), boards.c.id)
    .limit(bindparam("most"))
)


def add(
    connection: Connection,
    ladder_id: int,
    board_id: int,
    challenger_id: int,
    defender_id: int,
    now: datetime,
) -> None:
    """Note that a board is a challenge."""
    connection.execute(
        insert(ladder_games).values(
            board_id=board_id,
            ladder_id=ladder_id,
            challenger_id=challenger_id,
            defender_id=defender_id,
            begun_at=now,
            due_at=now,
        )
    )


def open_challenges(
    connection: Connection,
    ladder_id: int,
    *,
    of: Collection[int] | None = None,
    most: int | None = None,
) -> list[Challenge]:
    """Return the challenges whose result has not been carried out, newest first.

    Args:
        of: only those in which one of these players takes part.
        most: the most challenges to return.
    """
    statement = (
        _CHALLENGE.where(ladder_games.c.ladder_id == ladder_id, ladder_games.c.due_at.is_not(None))
        .order_by(ladder_games.c.board_id.desc())
        .limit(most)
    )
    if of is not None:
        statement = statement.where(_takes_part(of))
    return [Challenge(*row) for row in connection.execute(statement)]


def ended_since(
    connection: Connection, ladder_id: int, since: datetime, player_id: int
) -> list[Challenge]:
    """Return the challenges of a player that ended after a moment, newest first."""
    statement = _CHALLENGE.where(
        ladder_games.c.ladder_id == ladder_id,
        ladder_games.c.ended_at > since,
        _takes_part([player_id]),
    ).order_by(ladder_games.c.ended_at.desc(), ladder_games.c.board_id.desc())
    return [Challenge(*row) for row in connection.execute(statement)]


def _takes_part(player_ids: Collection[int]) -> ColumnElement[bool]:
    challenger, defender = ladder_games.c.challenger_id, ladder_games.c.defender_id
    return or_(challenger.in_(player_ids), defender.in_(player_ids))


def due(connection: Connection, now: datetime, most: int) -> list[int]:
    """Return challenges whose boards have ended, in the order of their ends."""
    return list(connection.execute(_DUE, {"now": now, "most": most}).scalars())


claim = partial(claim_due, row=Challenge, table=ladder_games)
"""Lock a due challenge; return `None` if another process has it or has carried it out."""
put_off = partial(put_off_due, table=ladder_games)
"""Look at a challenge no earlier than a moment."""


def lock(connection: Connection, board_id: int) -> Challenge | None:
    """Lock and return the challenge of a board, `None` if it is none."""
    statement = _CHALLENGE.where(ladder_games.c.board_id == board_id).with_for_update()
    return first_row(connection, Challenge, statement)


def end(connection: Connection, board_id: int, result: str, at: datetime) -> None:
    """Note that the result of a challenge has been carried out."""
    connection.execute(
        update(ladder_games)
        .where(ladder_games.c.board_id == board_id)
        .values(due_at=None, ended_at=at, result=result)
    )


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's challenges to another."""
    for role in ("challenger_id", "defender_id"):
        change_rows(connection, ladder_games, {role: old}, **{role: new})
