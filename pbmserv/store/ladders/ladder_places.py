"""Rows of places in ladders, and of the movements of players."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Update, insert, select, update

from pbmserv.store.core.statements import (
    change_rows,
    columns_of,
    count_rows,
    delete_rows,
    first_row,
)
from pbmserv.store.ladders.ladder_reigns import note_first
from pbmserv.store.ladders.ladders import lock_by_id
from pbmserv.store.ladders.ladders import of_player as ladders_of_player
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.ladders import ladder_moves, ladder_places, ladder_reigns


@dataclass(frozen=True, slots=True)
class Place:
    """A player's place in a ladder.

    Attributes:
        rank: 1 is the best.
        active_at: the newest move or command that is known here.
        news: the player wants letters about movements.
    """

    player_id: int
    userid: str
    address: str
    rank: int
    joined_at: datetime
    active_at: datetime
    news: bool


@dataclass(frozen=True, slots=True)
class Movement:
    """A change of a player's rank by a result, by joining or by leaving.

    Attributes:
        before: the old rank; `None` for a player who joined.
        after: the new rank; `None` for a player who left.
    """

    id: int
    player_id: int
    userid: str
    before: int | None
    after: int | None
    why: str
    board_id: int | None
    created_at: datetime


_PLACES = (
    select(*columns_of(Place, ladder_places, players))
    .join(players, players.c.id == ladder_places.c.player_id)
    .order_by(ladder_places.c.rank)
)


def places(
    connection: Connection, ladder_id: int, first: int = 1, last: int | None = None
) -> list[Place]:
    """Return the places from rank *first* to rank *last*, or to the bottom, in their order."""
    statement = _PLACES.where(ladder_places.c.ladder_id == ladder_id, ladder_places.c.rank >= first)
    if last is not None:
        statement = statement.where(ladder_places.c.rank <= last)
    return [Place(*row) for row in connection.execute(statement)]


def of_player(connection: Connection, ladder_id: int, player_id: int) -> Place | None:
    """Return a player's place, `None` if the player has none."""
    statement = _PLACES.where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.player_id == player_id
    )
    return first_row(connection, Place, statement)


def count(connection: Connection, ladder_id: int) -> int:
    """Return the number of players of a ladder."""
    return count_rows(connection, ladder_places, ladder_places.c.ladder_id == ladder_id)


def join(connection: Connection, ladder_id: int, player_id: int, now: datetime) -> int:
    """Add a player at the bottom; return the rank. The caller has locked the ladder."""
    rank = count(connection, ladder_id) + 1
    connection.execute(
        insert(ladder_places).values(
            ladder_id=ladder_id, player_id=player_id, rank=rank, joined_at=now, active_at=now
        )
    )
    _log(connection, ladder_id, player_id, None, rank, "joined", None, now)
    return rank


def move(
    connection: Connection,
    ladder_id: int,
    place: Place,
    to: int,
    why: str,
    board_id: int,
    now: datetime,
) -> None:
    """Move a player to another rank, past the players between. The caller has locked the ladder."""
    if place.rank == to:
        return
    low, high = sorted((place.rank, to))
    step = 1 if to < place.rank else -1
    between = (ladder_places.c.rank >= low) & (ladder_places.c.rank <= high)
    connection.execute(
        update(ladder_places)
        .where(ladder_places.c.ladder_id == ladder_id, between)
        .values(rank=ladder_places.c.rank + step)
    )
    connection.execute(_update_of(ladder_id, place.player_id).values(rank=to))
    _log(connection, ladder_id, place.player_id, place.rank, to, why, board_id, now)


def leave(
    connection: Connection, ladder_id: int, player_id: int, why: str, now: datetime
) -> Place | None:
    """Remove a player; return the place that the player had. The caller has locked the ladder."""
    place = of_player(connection, ladder_id, player_id)
    if place is None:
        return None
    delete_rows(connection, ladder_places, ladder_id=ladder_id, player_id=player_id)
    connection.execute(
        update(ladder_places)
        .where(ladder_places.c.ladder_id == ladder_id, ladder_places.c.rank > place.rank)
        .values(rank=ladder_places.c.rank - 1)
    )
    _log(connection, ladder_id, player_id, place.rank, None, why, None, now)
    note_first(connection, ladder_id, now)
    return place


def leave_all(connection: Connection, player_id: int, now: datetime) -> None:
    """Remove a player from all ladders, for a sign-off or deletion."""
    for ladder in ladders_of_player(connection, player_id):
        lock_by_id(connection, ladder.id)
        leave(connection, ladder.id, player_id, "left", now)


def move_all(connection: Connection, old: int, new: int, now: datetime) -> None:
    """Give one player's places, and times at first place, to another.

    Of two places on one ladder, the other player gets the better one, and the old one keeps the
    worse. Earlier movements keep their names.
    """
    for ladder in ladders_of_player(connection, old):
        lock_by_id(connection, ladder.id)
        place = of_player(connection, ladder.id, old)
        own_place = of_player(connection, ladder.id, new)
        if place is None:
            continue
        if own_place is not None and own_place.rank < place.rank:
            note_active(connection, ladder.id, new, now)
            continue
        values = {"player_id": new, "active_at": now}
        if own_place is not None:
            leave(connection, ladder.id, new, "left", now)
            values["news"] = own_place.news
        connection.execute(_update_of(ladder.id, old).values(values))
        _log(connection, ladder.id, old, place.rank, None, "left", None, now)
        _log(connection, ladder.id, new, None, place.rank, "joined", None, now)
    change_rows(connection, ladder_reigns, {"player_id": old}, player_id=new)


def note_active(connection: Connection, ladder_id: int, player_id: int, at: datetime) -> None:
    """Note that a player was active."""
    connection.execute(_update_of(ladder_id, player_id).values(active_at=at))


def set_news(connection: Connection, ladder_id: int, player_id: int, *, wanted: bool) -> bool:
    """Set whether a player gets letters about movements; return whether that changed anything."""
    changed = _update_of(ladder_id, player_id).where(ladder_places.c.news != wanted)
    return connection.execute(changed.values(news=wanted)).rowcount > 0


def silent(connection: Connection, ladder_id: int, before: datetime) -> list[Place]:
    """Return the places of players who have not been active since a moment, as far as noted."""
    statement = _PLACES.where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.active_at < before
    )
    return [Place(*row) for row in connection.execute(statement)]


def _update_of(ladder_id: int, player_id: int) -> Update:
    return update(ladder_places).where(
        ladder_places.c.ladder_id == ladder_id, ladder_places.c.player_id == player_id
    )


def _log(
    connection: Connection,
    ladder_id: int,
    player_id: int,
    before: int | None,
    after: int | None,
    why: str,
    board_id: int | None,
    now: datetime,
) -> None:
    connection.execute(
        insert(ladder_moves).values(
            ladder_id=ladder_id,
            player_id=player_id,
            before=before,
            after=after,
            why=why,
            board_id=board_id,
            created_at=now,
        )
    )


def movements(connection: Connection, ladder_id: int, since: datetime, most: int) -> list[Movement]:
    """Return the movements after a moment, newest first, at most so many."""
    statement = (
        select(*columns_of(Movement, ladder_moves, players))
        .join(players, players.c.id == ladder_moves.c.player_id)
        .where(ladder_moves.c.ladder_id == ladder_id, ladder_moves.c.created_at > since)
        .order_by(ladder_moves.c.id.desc())
        .limit(most)
    )
    return [Movement(*row) for row in connection.execute(statement)]
