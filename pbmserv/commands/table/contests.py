"""Commands of events (leagues, cups, Swiss tournaments), and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.model import Command, Speaking
from pbmserv.commands.table.row_types import Arguments, Kind, Parameter, Trait
from pbmserv.commands.table.shapes import ABOUT_MYSELF, ON_SERVER, in_section

SECTION = "Events"


@dataclass(frozen=True, slots=True)
class Contest(Speaking):
    """``league userid password join game [once]``, and ``… leave game``.

    Attributes:
        kind: ``league``, ``cup`` or ``swiss``.
        words: the words behind the password.
    """

    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OneEvent(Speaking):
    """``event userid password join|leave|create|invite|letters …``"""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Events(Command):
    """``events [number]``: list the events, or show the tables of one."""

    subjects: tuple[str, ...] = ()


def _contest(kind: str, arguments: Arguments) -> Command:
    return Contest(arguments.who, kind, arguments.words)


CONTESTS = in_section(
    SECTION,
    ABOUT_MYSELF.row(
        "league",
        Contest,
        "enter the league of a game: every season, or once",
        more=(Parameter("join|leave game [once]", Kind.WORDS),),
        example="join blackbox",
        from_arguments=lambda args: _contest("league", args),
        traits=Trait.ENGLISH,
    ),
    ABOUT_MYSELF.row(
        "cup",
        Contest,
        "enter this month's cup of a game",
        more=(Parameter("join|leave game", Kind.WORDS),),
        example="join blackbox",
        from_arguments=lambda args: _contest("cup", args),
        shares_page="league",
        traits=Trait.ENGLISH,
    ),
    ABOUT_MYSELF.row(
        "swiss",
        Contest,
        "enter the next Swiss tournament of a game",
        more=(Parameter("join|leave game", Kind.WORDS),),
        example="join blackbox",
        from_arguments=lambda args: _contest("swiss", args),
        shares_page="league",
        traits=Trait.ENGLISH,
    ),
    ABOUT_MYSELF.row(
        "event",
        OneEvent,
        "enter or leave an event, or hold one of your own",
        more=(Parameter("join|leave|create|invite|letters ...", Kind.WORDS),),
        example="join 12",
        from_arguments=lambda args: OneEvent(args.who, args.words),
        traits=Trait.ENGLISH,
    ),
    ON_SERVER.row(
        "events",
        Events,
        "leagues, cups and tournaments, or the tables of one",
        more=(Parameter("[number]", Kind.SUBJECTS),),
        subjects=("tournament", "tournaments", "leagues", "cups"),
        traits=Trait.LOOKS,
    ),
)
