"""Cups: winners of groups meet in further rounds. The server holds one of each game a month."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from pbmserv.service.events.groups import Entrant, deal, in_order
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.service.events.tables import Line
from pbmserv.store.events.events import Event


class Cup(Kind):
    """A cup that a player holds."""

    word = "cup"
    rules = Rules(size=5, least=3)
    names_groups = True

    def name(self, event: Event, title: str) -> str:
        return f"Monthly cup {event.number} of {title}"

    def into_groups(self, players: Sequence[Entrant], most: int) -> list[list[Entrant]]:
        """Return groups of equal strength."""
        return deal(players, most)

    def has_next_round(self, event: Event, groups: Collection[int]) -> bool:
        return len(groups) > 1

    def next_groups(
        self, event: Event, tables: Mapping[int, Sequence[Line]]
    ) -> list[list[Entrant]]:
        winners = [Entrant(lines[0].player_id, lines[0].rating) for lines in tables.values()]
        return self.into_groups(in_order(winners, event.number), Rules.of(event).size)

    def winning_group(self, groups: Collection[int]) -> int:
        """Return the newest group, which is that of the last round."""
        return max(groups)


class MonthlyCup(Cup):
    """A cup of the server, which takes entries until the end of a month."""

    begins_full_groups = True

    def year_of_final(self, event: Event) -> int:
        """Return the year in which the cup's month is."""
        return (event.closes_at - timedelta(days=1)).year
