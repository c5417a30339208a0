"""Yearly finals, for the winners of a year's monthly cups."""

from __future__ import annotations

from datetime import UTC, datetime

from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.store.events.events import Event

FINAL = "final"


class Final(Kind):
    """The final of a year's monthly cups; its number is the year."""

    word = FINAL
    rules = Rules(size=12, least=2, invited=True)
    is_entered_by_game = False
    waits_for_players = False

    def name(self, event: Event, title: str) -> str:
        return f"Final of the {title} cups of {event.number}"


def final_starts(year: int) -> datetime:
    """Return when the final of a year's cups begins: two rounds of the last cup fit before it."""
    return datetime(year + 1, 7, 1, tzinfo=UTC)
