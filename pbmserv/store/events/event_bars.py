"""Rows of players who may not enter events for some time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, func, select

from pbmserv.store.core.statements import delete_rows, put_row
from pbmserv.store.tables.events import event_bars


def barred_until(
    connection: Connection, player_ids: Collection[int], now: datetime
) -> datetime | None:
    """Return until when a person may not enter events, `None` if the person may.

    Args:
        player_ids: the person's names.
    """
    return connection.execute(
        select(func.max(event_bars.c.until)).where(
            event_bars.c.player_id.in_(player_ids), event_bars.c.until > now
        )
    ).scalar()


def bar(connection: Connection, player_id: int, until: datetime) -> None:
    """Let a player enter no events until a moment."""
    put_row(connection, event_bars, {"player_id": player_id}, until=until)


def move(connection: Connection, old: int, new: int) -> None:
    """Let the bar of one player hold for another; of two bars, the longer one."""
    both = event_bars.c.player_id.in_((old, new))
    until = connection.execute(select(func.max(event_bars.c.until)).where(both)).scalar()
    if until is not None:
        bar(connection, new, until)
    delete_rows(connection, event_bars, player_id=old)
