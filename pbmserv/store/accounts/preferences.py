"""Preferences of players, in columns of their rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.mail import LetterState, outbox


def lock(connection: Connection, player_id: int) -> None:
    """Lock a player's row until the end of the transaction."""
    connection.execute(select(players.c.id).where(players.c.id == player_id).with_for_update())


def release_tray(connection: Connection, player_id: int, now: datetime) -> None:
    """Queue the letters that wait for a digest: the player will get none."""
    connection.execute(
        update(outbox)
        .where(outbox.c.player_id == player_id, outbox.c.state == LetterState.DIGEST)
        .values(state=LetterState.QUEUED, due_at=now)
    )


def wanting_broadcasts(connection: Connection) -> list[Player]:
    """Return the active players who want operators' messages, in the order of their ids."""
    return player_rows.listed(
        connection, players.c.broadcasts, players.c.state == PlayerState.ACTIVE
    )


_UNNAMED = select(players.c.userid).where(
    players.c.userid.in_(bindparam("userids", expanding=True)), players.c.public.is_(False)
)


def unnamed(connection: Connection, userids: Collection[str]) -> frozenset[str]:
    """Return those userids that public pages must not show."""
    return frozenset(connection.execute(_UNNAMED, {"userids": sorted(userids)}).scalars())
