"""The row of a mail store about itself: its UUID, and when a door was last alive."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select, update

from pbmserv.store.tables.mail import stores


def uuid_of(connection: Connection) -> str:
    """Return the UUID of this store, which tells it from another file in its place."""
    return str(connection.execute(select(stores.c.uuid)).scalar_one())


def beat(connection: Connection, now: datetime) -> None:
    """Note that a door accepts mail now."""
    connection.execute(update(stores).values(beat_at=now))


def beat_at(connection: Connection) -> datetime | None:
    """Return when a door last accepted mail, `None` if never."""
    moment: datetime | None = connection.execute(select(stores.c.beat_at)).scalar()
    return moment
