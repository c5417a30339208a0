"""Rows of notices to players that are not repeated for a while."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from pbmserv.store.core.statements import delete_rows, insert_into
from pbmserv.store.tables.accounts import notices


def note(
    connection: Connection, player_id: int, kind: str, now: datetime, every: timedelta
) -> bool:
    """Note that a notice of this kind is sent now; return whether it may be.

    It may be sent if the last one is older than *every*. The row is the lock: of two simultaneous
    mails only one may send it.
    """
    new = insert_into(connection, notices).values(player_id=player_id, kind=kind, told_at=now)
    rows = connection.execute(
        new.on_conflict_do_update(
            index_elements=["player_id", "kind"],
            set_={"told_at": now},
            where=notices.c.told_at <= now - every,
        ).returning(notices.c.player_id)
    )
    return rows.first() is not None


def last(connection: Connection, player_id: int, kind: str) -> datetime | None:
    """Return when a notice of this kind was last sent, `None` if never."""
    return connection.execute(
        select(notices.c.told_at).where(notices.c.player_id == player_id, notices.c.kind == kind)
    ).scalar()


def forget(connection: Connection, player_id: int, kind: str) -> None:
    """Forget that a notice was sent."""
    delete_rows(connection, notices, player_id=player_id, kind=kind)
