"""The draw of an event: earlier places and ratings of its players, and the groups it stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, and_, bindparam, func, select, update

from pbmserv.engine.ratings import NEWCOMER
from pbmserv.store.tables.events import entries, events
from pbmserv.store.tables.ratings import ratings


@dataclass(frozen=True, slots=True)
class Drawn:
    """A player who is drawn into a group: `seed` is the order in it, `rating` an ordinal."""

    player_id: int
    group_number: int
    seed: int
    rating: float


_DRAW = (
    update(entries)
    .where(
        entries.c.event_id == bindparam("of_event"), entries.c.player_id == bindparam("of_player")
    )
    .values(group_number=bindparam("new_group"), seed=bindparam("new_seed"))
    .values(rating=bindparam("new_rating"))
)


def draw(connection: Connection, event_id: int, drawn: Sequence[Drawn]) -> None:
    """Store group, seed and rating of players."""
    if drawn:
        connection.execute(
            _DRAW,
            [
                {
                    "of_event": event_id,
                    "of_player": player.player_id,
                    "new_group": player.group_number,
                    "new_seed": player.seed,
                    "new_rating": player.rating,
                }
                for player in drawn
            ],
        )


@dataclass(frozen=True, slots=True)
class LastPlace:
    """The place of a player in an earlier season of a league.

    Attributes:
        number: of the season.
        place: `None` for a player who was removed.
        size: number of players in the group.
    """

    number: int
    group_number: int
    place: int | None
    size: int


def last_places(connection: Connection, kind: str, game: str, before: int) -> dict[int, LastPlace]:
    """Return the newest place of each player in seasons with a number below *before*."""
    others = entries.alias("others")
    size = (
        select(func.count())
        .where(
            others.c.event_id == entries.c.event_id, others.c.group_number == entries.c.group_number
        )
        .scalar_subquery()
    )
    now_in = select(entries.c.player_id).where(
        entries.c.event_id
        == select(events.c.id)
        .where(events.c.kind == kind, events.c.game == game, events.c.number == before)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(entries.c.player_id, events.c.number, entries.c.group_number, entries.c.place, size)
        .join(events, events.c.id == entries.c.event_id)
        .where(
            events.c.kind == kind,
            events.c.game == game,
            events.c.number < before,
            entries.c.group_number.is_not(None),
            entries.c.player_id.in_(now_in),
        )
        .order_by(events.c.number)
    )
    return {player_id: LastPlace(*place) for player_id, *place in rows}


class EntrantRating(NamedTuple):
    """A player's rating before the draw, and the number of rated games; both 0 for newcomers."""

    ordinal: float
    games: int


def ratings_of(connection: Connection, game: str, event_id: int) -> dict[int, EntrantRating]:
    """Return the ratings of the players of an event."""
    rows = connection.execute(
        select(
            entries.c.player_id,
            func.coalesce(ratings.c.ordinal, NEWCOMER.ordinal),
            func.coalesce(ratings.c.games, 0),
        )
        .outerjoin(
            ratings,
            and_(ratings.c.player_id == entries.c.player_id, ratings.c.game == game),
        )
        .where(entries.c.event_id == event_id)
    )
    return {player_id: EntrantRating(*rating) for player_id, *rating in rows}
