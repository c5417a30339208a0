"""Rows of players who enter each season of a league."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from pbmserv.store.core.statements import add_if_new, delete_rows, has_row, insert_into
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.events import EntryStatus, entries, event_bars, events, regulars


def is_regular(connection: Connection, game: str, player_id: int) -> bool:
    """Return whether a player enters each season of a game's league."""
    which = (regulars.c.game == game, regulars.c.player_id == player_id)
    return has_row(connection, regulars, *which)


def add(connection: Connection, game: str, player_id: int, now: datetime) -> None:
    """Enter a player into each further season of a game's league."""
    add_if_new(connection, regulars, game=game, player_id=player_id, since=now)


def drop(connection: Connection, game: str, player_id: int) -> bool:
    """End the recurring entry of a player; return whether there was one."""
    return delete_rows(connection, regulars, game=game, player_id=player_id) > 0


def enter_all(
    connection: Connection, event_id: int, game: str, closes_at: datetime, now: datetime
) -> None:
    """Enter all regulars of a game who are active.

    Args:
        closes_at: the end of the entries; players whose bar lasts longer are left out.
    """
    barred = select(event_bars.c.player_id).where(event_bars.c.until > closes_at)
    rows = (
        select(
            bindparam("event", event_id, events.c.id.type),
            regulars.c.player_id,
            bindparam("status", EntryStatus.ENTERED, entries.c.status.type),
            bindparam("at", now, entries.c.entered_at.type),
        )
        .join(players, players.c.id == regulars.c.player_id)
        .where(
            regulars.c.game == game,
            players.c.state == PlayerState.ACTIVE,
            regulars.c.player_id.not_in(barred),
        )
    )
    connection.execute(
        insert_into(connection, entries)
        .from_select(["event_id", "player_id", "status", "entered_at"], rows)
        .on_conflict_do_nothing()
    )
