"""Kinds of events, and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pbmserv.engine.clocks import EVENT_CLOCK, Terms
from pbmserv.store.events import Event

SWISS_CLOCK = Terms(nag=3, forfeit=6, total=12, cap=12, away=1)
"""Times of a game of a Swiss, which ends after at most 2 * (12 + 1) = 26 days."""

DUPLICATE_CLOCK = Terms(nag=5, forfeit=14, away=14)
"""Times of a box of a duplicate event, which may all be used for one turn."""

ROUND = {
    **dict.fromkeys(("league", "cup", "final", "team"), timedelta(days=90)),
    "swiss": timedelta(days=26),
    "duplicate": timedelta(days=14),
}
"""Time after which the games of a round that still run are decided."""

SEASON = timedelta(days=91)
"""Time from the start of a season to the start of the next one."""

CLOSING = timedelta(days=7)
"""Time from the end of the entries to the start of a season."""

FIRST_SEASON = timedelta(days=14)
"""Least time from the first entry to the start of the first season."""

WAIT = timedelta(days=28)
"""Time by which an event with too few players is put off."""

SWISS_ROUNDS = 5
BAR, LONG_BAR = timedelta(days=30), timedelta(days=90)
"""Time without new entries after a loss on time, and after another one in that time."""

ENDING_LOSSES = 2
"""Losses on time in a season that end the recurring entry."""

TEAM = "team"
"""The kind of events of teams; `Rules` count teams there."""

KINDS = ("league", "cup", "swiss", "duplicate", TEAM)
OWN_KINDS = ("cup", "swiss", "duplicate")
"""Kinds of events that a player can hold."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an event.

    Attributes:
        size: most players of a group.
        least: fewest players.
        most: most players, 0 for any number.
        invited: only invited players may enter.
        boxes: boxes that all players of a duplicate event get.
    """

    size: int
    least: int
    most: int = 0
    invited: bool = False
    boxes: int = 0

    @classmethod
    def of(cls, event: Event) -> Rules:
        return cls(**event.rules)

    def as_json(self) -> Mapping[str, Any]:
        return asdict(self)


RULES: Mapping[str, Rules] = {
    "league": Rules(size=8, least=4),
    "cup": Rules(size=5, least=3),
    "swiss": Rules(size=48, least=25),
    "duplicate": Rules(size=8, least=2, most=8, boxes=3),
    TEAM: Rules(size=8, least=2),
    "final": Rules(size=12, least=2, invited=True),
}
"""The rules of the server's events. A final is for the winners of a year's monthly cups."""


def terms_of(event: Event) -> Terms:
    """Return the times of an event's games."""
    if event.kind == "duplicate":
        return DUPLICATE_CLOCK
    return SWISS_CLOCK if event.kind == "swiss" else EVENT_CLOCK


def is_monthly(event: Event) -> bool:
    """Return whether an event is a cup of the server, whose groups begin as they fill."""
    return event.kind == "cup" and event.owner_id is None


def next_monday(moment: datetime) -> datetime:
    """Return the first midnight (UTC) at the beginning of a Monday from a moment on."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if day < moment:
        day += timedelta(days=1)
    return day + timedelta(days=-day.weekday() % 7)


def next_month(moment: datetime) -> datetime:
    """Return the beginning (UTC) of the month after a moment."""
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)


def year_of(cup: Event) -> int:
    """Return the year of a monthly cup, whose entries close at the end of its month."""
    return (cup.closes_at - timedelta(days=1)).year


def final_starts(year: int) -> datetime:
    """Return when the final of a year's cups begins: two rounds of the last cup fit before it."""
    return datetime(year + 1, 7, 1, tzinfo=UTC)


def name_of(event: Event, title: str) -> str:
    """Return the name of an event for people.

    It may begin the subject of a letter, so it must not begin with a command. A name that a player
    chose is in quotes.

    Args:
        title: the title of its game.
    """
    if event.name:
        return f'"{event.name}"'
    if event.kind == "league":
        return f"Season {event.number} of the {title} league"
    if event.kind == "cup":
        return f"Monthly cup {event.number} of {title}"
    if event.kind == "final":
        return f"Final of the {title} cups of {event.number}"
    if event.kind == TEAM:
        return f"Match of teams {event.number} of {title}"
    if event.kind == "duplicate":
        return f"Duplicate event {event.number} of {title}"
    return f"Open Swiss {event.number} of {title}"
