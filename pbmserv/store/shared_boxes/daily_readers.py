"""Rows of players who get boxes of the day by mail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from pbmserv.store.core.statements import columns_of, delete_rows, values_of
from pbmserv.store.tables.boxes import daily_readers


@dataclass(frozen=True, slots=True)
class Reader:
    """A player's subscription to a game's box of the day."""

    player_id: int
    game: str
    minute: int
    due_at: datetime


_DUE = (
    select(daily_readers.c.player_id)
    .where(daily_readers.c.due_at <= bindparam("now"))
    .order_by(daily_readers.c.due_at)
    .limit(bindparam("most"))
)
_CLAIM = (
    select(*columns_of(Reader, daily_readers))
    .where(
        daily_readers.c.player_id == bindparam("player"), daily_readers.c.due_at <= bindparam("now")
    )
    .order_by(daily_readers.c.game)
    .with_for_update(skip_locked=True)
)


def due(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return players whose box of the day is due."""
    rows = connection.execute(_DUE, {"now": now, "most": most}).scalars()
    return list(dict.fromkeys(rows))


def claim(connection: Connection, player_id: int, now: datetime) -> list[Reader]:
    """Return and lock a player's due subscriptions; none if another process has them."""
    rows = connection.execute(_CLAIM, {"player": player_id, "now": now})
    return [Reader(*row) for row in rows]


def set_due(connection: Connection, reader: Reader, at: datetime) -> None:
    """Set when a player gets the next box."""
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == reader.player_id, daily_readers.c.game == reader.game)
        .values(due_at=at)
    )


def put_off(connection: Connection, player_id: int, until: datetime) -> None:
    """Send a player's boxes no earlier than *until*."""
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == player_id, daily_readers.c.due_at <= until)
        .values(due_at=until)
    )


def subscribe(connection: Connection, reader: Reader) -> None:
    """Subscribe a player, or change the hour."""
    unsubscribe(connection, reader.player_id, reader.game)
    connection.execute(insert(daily_readers).values(values_of(reader, daily_readers)))


def minute_of(connection: Connection, player_id: int, game: str) -> int | None:
    """Return the minute of the local day at which a player gets the box, `None` for never."""
    return connection.execute(
        select(daily_readers.c.minute).where(
            daily_readers.c.player_id == player_id, daily_readers.c.game == game
        )
    ).scalar()


def unsubscribe(connection: Connection, player_id: int, game: str) -> bool:
    """End a subscription; return whether there was one."""
    return delete_rows(connection, daily_readers, player_id=player_id, game=game) > 0
