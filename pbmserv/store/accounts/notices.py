"""Rows that say when a player was last told something that nobody wants to read twice a day."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.store.tables import notices


def may_tell(
    connection: Connection, player_id: int, kind: str, now: datetime, every: timedelta
) -> bool:
    """Whether *kind* was not told for so long; if so, it counts as told now.

    Two mails at the same moment cannot both be told yes: the row is the lock.
    """
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(notices).values(player_id=player_id, kind=kind, told_at=now)
    told = connection.execute(
        statement.on_conflict_do_update(
            index_elements=["player_id", "kind"],
            set_={"told_at": now},
            where=notices.c.told_at <= now - every,
        ).returning(notices.c.player_id)
    )
    return told.first() is not None


def last_told(connection: Connection, player_id: int, kind: str) -> datetime | None:
    """When *kind* was told last; ``None`` = never."""
    found: datetime | None = connection.execute(
        select(notices.c.told_at).where(notices.c.player_id == player_id, notices.c.kind == kind)
    ).scalar()
    return found


def forget(connection: Connection, player_id: int, kind: str) -> None:
    """Whatever was told is as if it had not been."""
    connection.execute(
        delete(notices).where(notices.c.player_id == player_id, notices.c.kind == kind)
    )
