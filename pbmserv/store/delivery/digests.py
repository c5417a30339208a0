"""When players get their daily digests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.mail import outbox

_MOST_TRAYS = 5
"""Newest letters of the kind "tray" among which the last digest is."""
_DUE = (
    select(players.c.id)
    .where(players.c.digest_due <= bindparam("now"))
    .order_by(players.c.digest_due)
    .limit(bindparam("most"))
)
_LOCK_IF_DUE = (
    select(players.c.digest_due)
    .where(players.c.id == bindparam("player"), players.c.digest_due <= bindparam("now"))
    .with_for_update(skip_locked=True)
)


def due(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return players whose digest is due."""
    return list(connection.execute(_DUE, {"now": now, "most": most}).scalars())


def claim(connection: Connection, player_id: int, now: datetime) -> datetime | None:
    """Lock a player whose digest is due; return its due time, `None` if another process has it."""
    due_at: datetime | None = connection.execute(
        _LOCK_IF_DUE, {"player": player_id, "now": now}
    ).scalar()
    return due_at


def last(connection: Connection, player_id: int) -> datetime | None:
    """Return when a player's newest digest was made, `None` if none is known."""
    rows = connection.execute(
        select(outbox.c.created_at, outbox.c.words)
        .where(outbox.c.player_id == player_id, outbox.c.letter == "tray")
        .order_by(outbox.c.id.desc())
        .limit(_MOST_TRAYS)
    )
    return next((row.created_at for row in rows if not row.words.get("gathered")), None)


def put_off(connection: Connection, player_id: int, until: datetime) -> None:
    """Make a player's digest no earlier than *until*."""
    connection.execute(
        update(players)
        .where(players.c.id == player_id, players.c.digest_due <= until)
        .values(digest_due=until)
    )


def set_due(connection: Connection, player_id: int, at: datetime | None) -> None:
    """Set when a player's next digest is made."""
    connection.execute(update(players).where(players.c.id == player_id).values(digest_due=at))
