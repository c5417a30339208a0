"""Commands of events (leagues, cups, Swiss tournaments) and teams, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.command_types import Command, Speaking
from pbmserv.commands.table.row_types import Kind, Parameter, Row, Trait
from pbmserv.commands.table.shapes import ABOUT_MYSELF, ON_SERVER, in_section

SECTION = "Events"


@dataclass(frozen=True, slots=True)
class EventByGame(Speaking):
    """``league userid password join game [once]``, and ``… leave game``.

    Attributes:
        kind: ``league``, ``cup`` or ``swiss``.
        words: the words after the password.
    """

    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventByNumber(Speaking):
    """``event userid password join|leave|create|invite|letters …``"""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Events(Command):
    """``events [number]``: list the events, or show the tables of one."""

    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OneTeam(Speaking):
    """``team userid password [create|invite|join|leave|order|captain|remove|letters …]``

    Attributes:
        words: the words after the password; none to look at one's own team.
    """

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TeamChat(Speaking):
    """``team chat userid password``, with the words for the team below it."""


@dataclass(frozen=True, slots=True)
class Teams(Command):
    """``teams``: list the teams."""


def _by_game(kind: str, summary: str, *, once: str = "", shares_page: str = "") -> Row:
    """Return the row of a kind of event that players enter by the name of its game."""
    return ABOUT_MYSELF.row(
        kind,
        EventByGame,
        summary,
        more=(Parameter(f"join|leave game{once}", Kind.WORDS, "join GAME"),),
        example="join blackbox",
        from_arguments=lambda args: EventByGame(args.credentials, kind, args.words),
        shares_page=shares_page,
        traits=Trait.ENGLISH,
    )


EVENTS = in_section(
    SECTION,
    _by_game("league", "enter the league of a game: every season, or once", once=" [once]"),
    _by_game("cup", "enter this month's cup of a game", shares_page="league"),
    _by_game("swiss", "enter the next Swiss tournament of a game", shares_page="league"),
    ABOUT_MYSELF.row(
        "event",
        EventByNumber,
        "enter or leave an event, or hold one of your own",
        more=(Parameter("join|leave|create|invite|letters ...", Kind.WORDS, "join NUMBER"),),
        example="join 12",
        traits=Trait.ENGLISH,
    ),
    ON_SERVER.row(
        "events",
        Events,
        "leagues, cups and other events, or the tables of one",
        more=(Parameter("[number]", Kind.SUBJECTS),),
        subjects=("tournament", "tournaments", "leagues", "cups"),
        traits=Trait.LOOKS,
    ),
    ABOUT_MYSELF.row(
        "team",
        OneTeam,
        "play in a team of four: look at yours, or create one",
        more=(Parameter("[create|invite|join|leave|order ...]", Kind.WORDS),),
        example="create Rooks",
        traits=Trait.ENGLISH,
    ),
    ABOUT_MYSELF.row(
        "team chat",
        TeamChat,
        "write to your team",
        shares_page="team",
        traits=Trait.WORDS,
    ),
    ON_SERVER.row(
        "teams",
        Teams,
        "the teams of this server",
        more=(),
        shares_page="team",
        traits=Trait.LOOKS,
    ),
)
