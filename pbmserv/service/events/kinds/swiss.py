"""Swiss tournaments: five short rounds for a field too large for groups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pbmserv.engine.clocks import Terms
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.service.events.pairing import dutch, why_no_swiss
from pbmserv.service.events.tables import Contestant, Line, standings
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.events.events import Event


class Swiss(Kind):
    """A Swiss tournament: in each round, players with equal points meet who have not met."""

    word = "swiss"
    rules = Rules(size=48, least=25)
    terms = Terms(nag=3, forfeit=6, total=12, cap=12, away=1)  # at most 2 * (12 + 1) = 26 days
    round_length = timedelta(days=26)
    rounds = 5
    keeps_groups = True
    strikes_early_leavers = False  # opponents of earlier rounds have earned their points

    def name(self, event: Event, title: str) -> str:
        return f"Open Swiss {event.number} of {title}"

    def why_unavailable(self) -> str:
        return why_no_swiss()

    def pairs(
        self, group: Sequence[int], earlier: Sequence[Pairing], round_number: int
    ) -> Sequence[tuple[int, int | None]]:
        return dutch(group, earlier, round_number, self.rounds)

    def table(self, contestants: Sequence[Contestant], games: Sequence[Pairing]) -> list[Line]:
        return standings(contestants, games, swiss=True)
