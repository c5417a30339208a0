"""Events of teams: four members of each play a match against those of each other team."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from pbmserv.service.events.groups import Entrant, in_order, split
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.service.events.teams import BOARDS
from pbmserv.store.events import event_draws, event_entries
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event


class Team(Kind):
    """Matches of teams; its rules count teams."""

    word = "team"
    rules = Rules(size=8, least=2)
    is_entered_by_game = False
    team_size = BOARDS
    strikes_early_leavers = False  # three others have played on

    def name(self, event: Event, title: str) -> str:
        return f"Match of teams {event.number} of {title}"

    def draw(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[list[Entrant]]:
        """Return groups of teams of about the same strength, by mean rating.

        Each group has its players team by team and board by board.
        """
        ratings = event_draws.ratings_of(connection, event.game, event.id)
        lineups: dict[int, list[Entry]] = {}
        for entry in event_entries.of_event(connection, event.id):
            if entry.team_id is not None:
                lineups.setdefault(entry.team_id, []).append(entry)
        teams = [
            Entrant(team, sum(ratings[entry.player_id].ordinal for entry in lineup) / len(lineup))
            for team, lineup in lineups.items()
        ]
        return [
            [
                Entrant(entry.player_id, ratings[entry.player_id].ordinal)
                for team in group
                for entry in lineups[team.player_id]
            ]
            for group in split(in_order(teams, event.number), Rules.of(event).size)
        ]
