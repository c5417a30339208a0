"""Rows of seeks: players who look for an opponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from pbmserv.store.core.statements import change_rows, columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import seeks

_LOCK = 0x7365656B
"""Number of the advisory lock: "seek" in ASCII."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An unanswered seek.

    Attributes:
        options: canonical words.
        seed: the secret seed of its board.
    """

    id: int
    player_id: int
    userid: str
    game: str
    seats: int
    options: tuple[str, ...]
    seed: bytes = field(repr=False)
    created_at: datetime


_SEEK = select(*columns_of(Seek, seeks, players)).join(players, players.c.id == seeks.c.player_id)
_LIKE = _SEEK.where(
    seeks.c.game == bindparam("game"),
    seeks.c.seats == bindparam("seats"),
    players.c.state == PlayerState.ACTIVE,
    players.c.unreachable_since.is_(None),
).order_by(seeks.c.id)
_OPEN_SEEKS = (
    _SEEK.where(players.c.state == PlayerState.ACTIVE, players.c.unreachable_since.is_(None))
    .order_by(seeks.c.id)
    .limit(bindparam("most"))
)
_SEEKS_OF = _SEEK.where(seeks.c.player_id == bindparam("player")).order_by(seeks.c.id)


def lock(connection: Connection) -> None:
    """Let nobody else look for opponents until the end of the transaction.

    Otherwise two simultaneous seeks that fit would not see each other, and both would wait.
    SQLite has one writer.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def like(connection: Connection, game: str, seats: int, options: Sequence[str]) -> list[Seek]:
    """Return the seeks of reachable players with these options, oldest first."""
    rows = connection.execute(_LIKE, {"game": game, "seats": seats})
    return [seek for row in rows if (seek := Seek(*row)).options == tuple(options)]


def of_player(connection: Connection, player_id: int) -> list[Seek]:
    """Return the seeks of a player, oldest first."""
    return [Seek(*row) for row in connection.execute(_SEEKS_OF, {"player": player_id})]


def of_reachable(connection: Connection, most: int) -> list[Seek]:
    """Return the seeks of all reachable players, oldest first."""
    return [Seek(*row) for row in connection.execute(_OPEN_SEEKS, {"most": most})]


def add(
    connection: Connection,
    player_id: int,
    game: str,
    seats: int,
    options: Sequence[str],
    seed: bytes,
    now: datetime,
) -> None:
    """Store a seek."""
    connection.execute(
        insert(seeks).values(
            player_id=player_id,
            game=game,
            seats=seats,
            options=options,
            seed=seed,
            created_at=now,
        )
    )


def remove(connection: Connection, ids: Sequence[int]) -> None:
    """Delete seeks that were answered or withdrawn."""
    if ids:
        connection.execute(delete(seeks).where(seeks.c.id.in_(ids)))


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's seeks to another, except those for boards that both seek."""
    lock(connection)
    wanted = {(seek.game, seek.seats, seek.options) for seek in of_player(connection, new)}
    for seek in of_player(connection, old):
        if (seek.game, seek.seats, seek.options) not in wanted:
            change_rows(connection, seeks, {"id": seek.id}, player_id=new)
