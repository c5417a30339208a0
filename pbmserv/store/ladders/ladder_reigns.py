"""Rows of times at first place, of which the long ones are the hall of fame."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.ladders import ladder_places, ladder_reigns

FAME = timedelta(days=90)
"""Time at first place after which a player is in the hall of fame."""


@dataclass(frozen=True, slots=True)
class Reign:
    """A player's time at first place; *ended_at* is `None` if it goes on."""

    userid: str
    began_at: datetime
    ended_at: datetime | None


def note_first(connection: Connection, ladder_id: int, now: datetime) -> None:
    """Note the first player if that is a new one, and end the time of the one before.

    A time shorter than `FAME` is deleted.
    """
    is_first = (ladder_places.c.ladder_id == ladder_id) & (ladder_places.c.rank == 1)
    player_id = connection.execute(select(ladder_places.c.player_id).where(is_first)).scalar()
    open_reign = ladder_reigns.c.ended_at.is_(None) & (ladder_reigns.c.ladder_id == ladder_id)
    holder = connection.execute(
        select(ladder_reigns.c.player_id).where(open_reign).limit(1)
    ).scalar()
    if holder == player_id:
        return
    is_long = or_(ladder_reigns.c.honoured_at.is_not(None), ladder_reigns.c.began_at <= now - FAME)
    connection.execute(delete(ladder_reigns).where(open_reign, ~is_long))
    connection.execute(
        update(ladder_reigns)
        .where(open_reign)
        .values(ended_at=now, honoured_at=func.coalesce(ladder_reigns.c.honoured_at, now))
    )
    if player_id is not None:
        connection.execute(
            insert(ladder_reigns).values(ladder_id=ladder_id, player_id=player_id, began_at=now)
        )


def honour(connection: Connection, ladder_id: int, now: datetime) -> int | None:
    """Enter the first player into the hall of fame if the place was held for long.

    Returns:
        The player, `None` if it is not time yet, or was done before.
    """
    return connection.execute(
        update(ladder_reigns)
        .where(
            ladder_reigns.c.ladder_id == ladder_id,
            ladder_reigns.c.ended_at.is_(None),
            ladder_reigns.c.honoured_at.is_(None),
            ladder_reigns.c.began_at <= now - FAME,
        )
        .values(honoured_at=now)
        .returning(ladder_reigns.c.player_id)
    ).scalar()


def hall_of_fame(connection: Connection, ladder_id: int) -> list[Reign]:
    """Return the long times at first place, newest first."""
    statement = (
        select(*columns_of(Reign, ladder_reigns, players))
        .join(players, players.c.id == ladder_reigns.c.player_id)
        .where(
            ladder_reigns.c.ladder_id == ladder_id,
            ladder_reigns.c.honoured_at.is_not(None),
            players.c.state != PlayerState.DELETED,
        )
        .order_by(ladder_reigns.c.began_at.desc())
    )
    return [Reign(*row) for row in connection.execute(statement)]
