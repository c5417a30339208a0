"""Leagues: a season every quarter, in groups between which players move up and down."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.engine.ratings import is_provisional
from pbmserv.service.events.groups import Entrant, movement
from pbmserv.service.events.kinds.kind import Kind, Rules, next_monday
from pbmserv.store.events import event_draws
from pbmserv.store.events.events import Event

SEASON = timedelta(days=91)
"""Time from the start of a season to the start of the next one."""

CLOSING = timedelta(days=7)
"""Time from the end of the entries to the start of a season."""

FIRST_SEASON = timedelta(days=14)
"""Least time from the first entry to the start of the first season."""


class League(Kind):
    """The season of a league."""

    word = "league"
    rules = Rules(size=8, least=4)
    recurs = True
    names_groups = True

    def name(self, event: Event, title: str) -> str:
        return f"Season {event.number} of the {title} league"

    def first_start(self, now: datetime) -> datetime:
        return next_monday(now + FIRST_SEASON)

    def closing(self, starts_at: datetime) -> datetime:
        return starts_at - CLOSING

    def following_start(self, starts_at: datetime) -> datetime:
        return starts_at + SEASON

    def entrants(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[Entrant]:
        """Return the players with their places in the last season; newcomers, and players whose
        rating is not sure yet, enter by rating."""
        ratings = event_draws.ratings_of(connection, event.game, event.id)
        places = event_draws.last_places(connection, event.kind, event.game, event.number)
        entrants = []
        for player_id in player_ids:
            rating = ratings[player_id]
            last = None if is_provisional(rating.games) else places.get(player_id)
            entrants.append(Entrant(player_id, rating.ordinal, last))
        return entrants

    def movement(self, group_number: int, place: int | None, size: int, rated_games: int) -> int:
        # `entrants` ignores the places of such players.
        return 0 if is_provisional(rated_games) else movement(group_number, place, size)
