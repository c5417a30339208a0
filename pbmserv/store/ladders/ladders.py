"""Rows of ladders, one for each game."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from pbmserv.store.core.statements import (
    add_if_new,
    change_rows,
    claim_due,
    columns_of,
    due_keys,
)
from pbmserv.store.tables.ladders import ladder_places, ladders


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder of a game."""

    id: int
    game: str


_LADDER = select(*columns_of(Ladder, ladders))


def of_game(connection: Connection, game: str) -> Ladder | None:
    """Return the ladder of a game, `None` if nobody has joined it yet."""
    row = connection.execute(_LADDER.where(ladders.c.game == game)).first()
    return Ladder(*row) if row else None


def all_of(connection: Connection) -> list[Ladder]:
    """Return the ladders of all games, in the order of the games' keys."""
    return [Ladder(*row) for row in connection.execute(_LADDER.order_by(ladders.c.game))]


def lock(connection: Connection, game: str, now: datetime) -> Ladder:
    """Lock the ladder of a game until the end of the transaction, created if there was none."""
    add_if_new(connection, ladders, game=game, due_at=now)
    statement = _LADDER.where(ladders.c.game == game).with_for_update()
    return Ladder(*connection.execute(statement).one())


def lock_by_id(connection: Connection, ladder_id: int) -> Ladder:
    """Return a ladder and lock it until the end of the transaction."""
    statement = _LADDER.where(ladders.c.id == ladder_id).with_for_update()
    return Ladder(*connection.execute(statement).one())


def of_player(connection: Connection, player_id: int) -> list[Ladder]:
    """Return the ladders in which a player has a place."""
    statement = (
        _LADDER.join(ladder_places, ladder_places.c.ladder_id == ladders.c.id)
        .where(ladder_places.c.player_id == player_id)
        .order_by(ladders.c.game)
    )
    return [Ladder(*row) for row in connection.execute(statement)]


def due(connection: Connection, now: datetime, most: int) -> list[int]:
    """Return ladders whose daily check is due."""
    return due_keys(connection, ladders, now, most)


def claim(connection: Connection, ladder_id: int, now: datetime) -> Ladder | None:
    """Lock a due ladder; return `None` if another process has it or has checked it."""
    return claim_due(connection, Ladder, ladders, ladder_id, now)


def put_off(connection: Connection, ladder_id: int, until: datetime) -> None:
    """Check a ladder no earlier than *until*."""
    change_rows(connection, ladders, {"id": ladder_id}, due_at=until)
