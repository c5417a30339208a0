"""Accounts as operators list them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import RUNNING, boards, seats


@dataclass(frozen=True, slots=True)
class UserLine:
    """A player in a list.

    Attributes:
        running: number of boards that are proposed or active.
    """

    userid: str
    state: PlayerState
    address: str
    created_at: datetime
    running: int


def user_lines(connection: Connection, state: str | None, like: str, most: int) -> list[UserLine]:
    """Return players in this state (`None`: any), in the order of their userids.

    Args:
        like: part of the userid or address; ``""`` for all.
    """
    running = (
        select(func.count(func.distinct(seats.c.board_id)))
        .join(boards, boards.c.id == seats.c.board_id)
        .where(seats.c.player_id == players.c.id, boards.c.status.in_(RUNNING))
        .scalar_subquery()
    )
    statement = select(*columns_of(UserLine, players, running=running))
    if state:
        statement = statement.where(players.c.state == state)
    if like:
        is_like = players.c.userid.contains(like, autoescape=True)
        statement = statement.where(is_like | players.c.address.contains(like, autoescape=True))
    rows = connection.execute(statement.order_by(players.c.userid).limit(most))
    return [UserLine(*row) for row in rows]
