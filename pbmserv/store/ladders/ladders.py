"""Rows of ladders, one for each game."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, select

from pbmserv.store.core.statements import (
    add_if_new,
    claim_due,
    columns_of,
    due_keys,
    first_row,
    put_off_due,
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
    return first_row(connection, Ladder, _LADDER.where(ladders.c.game == game))


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


due = partial(due_keys, table=ladders)
"""Return ladders whose daily check is due."""
claim = partial(claim_due, row=Ladder, table=ladders)
"""Lock a due ladder; return `None` if another process has it or has checked it."""
put_off = partial(put_off_due, table=ladders)
"""Check a ladder no earlier than a moment."""
