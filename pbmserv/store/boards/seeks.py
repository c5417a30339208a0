"""Rows of seeks: players who look for any opponent at one kind of game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from pbmserv.store.tables import blocks, players, seeks

_LOCK = 0x7365656B  # "seek"


@dataclass(frozen=True, slots=True)
class Seek:
    """An unanswered seek; `options` are canonical words."""

    id: int
    player_id: int
    userid: str
    game: str
    seats: int
    options: tuple[str, ...]
    created_at: datetime


_SEEK = select(
    seeks.c.id,
    seeks.c.player_id,
    players.c.userid,
    seeks.c.game,
    seeks.c.seats,
    seeks.c.options,
    seeks.c.created_at,
).join(players, players.c.id == seeks.c.player_id)
_LIKE = _SEEK.where(
    seeks.c.game == bindparam("game"),
    seeks.c.seats == bindparam("seats"),
    players.c.state == "active",
    players.c.unreachable_since.is_(None),
).order_by(seeks.c.id)
_OF_PLAYER = _SEEK.where(seeks.c.player_id == bindparam("player")).order_by(seeks.c.id)


def lock(connection: Connection) -> None:
    """Nobody else looks for opponents until this transaction ends.

    Two seeks that fit and come at the same moment would otherwise not see each other, and both
    would wait. (SQLite has one writer.)
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def like(connection: Connection, game: str, seats: int, options: Sequence[str]) -> list[Seek]:
    """Everybody who looks for exactly this and can be reached, who waits longest first."""
    found = connection.execute(_LIKE, {"game": game, "seats": seats})
    return [seek for row in found if (seek := _seek(row)).options == tuple(options)]


def of_player(connection: Connection, player_id: int) -> list[Seek]:
    """What a player looks for, oldest first."""
    return [_seek(row) for row in connection.execute(_OF_PLAYER, {"player": player_id})]


def add(
    connection: Connection,
    player_id: int,
    game: str,
    seats: int,
    options: Sequence[str],
    now: datetime,
) -> None:
    """A player looks for opponents from now on."""
    connection.execute(
        insert(seeks).values(
            player_id=player_id, game=game, seats=seats, options=list(options), created_at=now
        )
    )


def remove(connection: Connection, ids: Sequence[int]) -> None:
    """These have been answered, or are no longer wanted."""
    if ids:
        connection.execute(delete(seeks).where(seeks.c.id.in_(ids)))


def forget(connection: Connection, player_id: int) -> None:
    """A player looks for nobody any more."""
    connection.execute(delete(seeks).where(seeks.c.player_id == player_id))


def blocked_pairs(connection: Connection, player_ids: Sequence[int]) -> set[tuple[int, int]]:
    """Pairs among these players of whom one has blocked the other, both ways round."""
    found = connection.execute(
        select(blocks.c.player_id, blocks.c.blocked_id).where(
            blocks.c.player_id.in_(player_ids), blocks.c.blocked_id.in_(player_ids)
        )
    )
    pairs = {(row[0], row[1]) for row in found}
    return pairs | {(b, a) for a, b in pairs}


def _seek(row: Any) -> Seek:
    number, player_id, userid, game, seats, options, created_at = row
    return Seek(number, player_id, userid, game, seats, tuple(options), created_at)
