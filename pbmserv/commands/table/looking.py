"""Commands that show help, boards, games and scores, and their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pbmserv.commands.table.command_types import AboutBoard, BoardRef, Command, Credentials
from pbmserv.commands.table.row_types import (
    ON_A_BOARD,
    Arguments,
    Kind,
    Parameter,
    Trait,
)
from pbmserv.commands.table.shapes import (
    ABOUT_BOARD,
    ABOUT_MYSELF,
    ANYWHERE,
    FOLLOWING,
    LOOKING_IN_GAME,
    MYSELF_IN_GAME,
    in_section,
)

SECTION = "Looking"


@dataclass(frozen=True, slots=True)
class Help(Command):
    """``help [subject…]``; an empty mail means the same."""

    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListGames(Command):
    """``list [game…]``"""

    games: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Show(Command):
    """``game show board[#n]…`` or ``game show userid… [all|active|inactive|next]``

    The game is `None` in ``all show userid``, which shows boards of all games.
    """

    game: str | None
    boards: tuple[BoardRef, ...] = ()
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class ShowAs(Command):
    """``game showas userid password [board…|all|active|inactive|next]``

    In a reply to a letter about a board (``show``), `credentials` is `None`, `boards` is empty and
    `which` is ``""``: show that board as the player sees it.
    """

    game: str | None
    credentials: Credentials | None
    boards: tuple[BoardRef, ...] = ()
    which: str = ""


@dataclass(frozen=True, slots=True)
class Games(Command):
    """``game games userid… [all|active|inactive|next]``; in a reply, games of the sender."""

    game: str | None
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class Standings(Command):
    """``game standings``: show the best players of a game, or of all games."""

    game: str | None


@dataclass(frozen=True, slots=True)
class Ratings(Command):
    """``game ratings [userid…]``: explain ratings; in a reply, the rating of the sender."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores(Command):
    """``game scores [kind]``: show the best scores on one kind of board, or on all kinds."""

    game: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Week(Command):
    """``game week``: show this week's table of the daily boxes."""

    game: str | None


@dataclass(frozen=True, slots=True)
class History(Command):
    """``game history [userid…]``: list finished boards, the newest first."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Friends(Command):
    """``friends userid password``: list the people the sender has played, and how they stand."""

    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Record(AboutBoard):
    """``game record board``: show a finished game as text that can be played back."""

    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Report(AboutBoard):
    """``game report board``: show the coach's report on a finished game."""

    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Follow(Command):
    """``subscribe|notify|unsubscribe board userid password``

    Attributes:
        what: ``"all"`` for a letter after each turn, ``"end"`` for one at the end, ``"off"``.
    """

    board: int | None
    credentials: Credentials | None
    what: Literal["all", "end", "off"]


def _help(arguments: Arguments) -> Command:
    """Make help. A game in front is its subject if no other is named."""
    if arguments.game and arguments.subjects in {(), ("rules",)}:
        return Help((arguments.game,))
    return Help(arguments.subjects)


def _show(arguments: Arguments) -> Command:
    """Show boards to a spectator, or one board to the player whose password is given."""
    if arguments.credentials is not None and arguments.board is not None:
        return ShowAs(
            arguments.game, arguments.credentials, (BoardRef(arguments.board, arguments.number),)
        )
    return Show(arguments.game, arguments.boards, arguments.userids, arguments.which)


PEOPLE = Parameter("[userid...]", Kind.PEOPLE)

HELP = in_section(
    "Help",
    ANYWHERE.row(
        "help",
        Help,
        "all commands, or all about one of them",
        more=(Parameter("[subject...]", Kind.SUBJECTS),),
        example="move",
        also=("commands", "info"),
        synonyms=("hilfe", "aide", "?"),
        newcomers=("login", "log", "start", "hello", "hi", "hallo", "man", "tutorial"),
        from_arguments=_help,
    ),
    ANYWHERE.row(
        "list",
        ListGames,
        "the games this server knows, their seats and options",
        more=(Parameter("[game...]", Kind.GAMES),),
    ),
)

LOOKING = in_section(
    SECTION,
    LOOKING_IN_GAME.row(
        "show",
        Show,
        "look at a board, or at a player's boards, as a spectator",
        more=(Parameter("board[#n]... | userid... [which]", Kind.SHOWN),),
        example="12",
        also=("board", "boards"),
        from_arguments=_show,
        proof=ON_A_BOARD,
    ),
    MYSELF_IN_GAME.row(
        "showas",
        ShowAs,
        "look at your own boards as you see them",
        more=(Parameter("[board...] [which]", Kind.BOARDS),),
        example="12",
        also=("show as",),
        synonyms=("show-as",),
        traits=Trait.LOOKS,
    ),
    LOOKING_IN_GAME.row(
        "games",
        Games,
        "a player's games, one line each",
        more=(Parameter("[userid...] [which]", Kind.WATCHED),),
        example="alice",
    ),
    LOOKING_IN_GAME.row(
        "standings",
        Standings,
        "the best players",
        also=("standing",),
        synonyms=("ranking", "rankings"),
        traits=Trait.ENGLISH,
    ),
    LOOKING_IN_GAME.row(
        "ratings",
        Ratings,
        "ratings, and how their last changes came about",
        more=(PEOPLE,),
        example="alice",
        also=("rating",),
    ),
    LOOKING_IN_GAME.row(
        "scores",
        Scores,
        "the best scores of races and solo games on one kind of board",
        more=(Parameter("[kind]", Kind.TEXT),),
        example="8x8/4",
        also=("score",),
        traits=Trait.ENGLISH | Trait.BOXES,
    ),
    LOOKING_IN_GAME.row(
        "week", Week, "this week's table of the boxes of the day", traits=Trait.BOXES
    ),
    LOOKING_IN_GAME.row(
        "history",
        History,
        "finished games, the newest first",
        more=(PEOPLE,),
        example="alice",
    ),
    ABOUT_MYSELF.row(
        "friends",
        Friends,
        "the people you have played, and how you stand",
        also=("opponents",),
        traits=Trait.LOOKS | Trait.ENGLISH,
    ),
    ABOUT_BOARD.row(
        "record",
        Record,
        "a whole finished game, as text that can be played back",
        traits=Trait.ENGLISH,
    ),
    ABOUT_BOARD.row(
        "report",
        Report,
        "what the coach says about a finished game, probe by probe",
        also=("coach", "analyse", "analyze"),
        synonyms=("rapport",),
        traits=Trait.ENGLISH | Trait.BOXES,
    ),
    FOLLOWING.row(
        "subscribe",
        Follow,
        "follow a game of others: a letter after every turn",
        synonyms=("follow",),
        from_arguments=lambda args: Follow(args.board, args.credentials, "all"),
    ),
    FOLLOWING.row(
        "notify",
        Follow,
        "follow a game of others: one letter when it is over",
        from_arguments=lambda args: Follow(args.board, args.credentials, "end"),
        shares_page="subscribe",
    ),
    FOLLOWING.row(
        "unsubscribe",
        Follow,
        "follow a game no longer",
        synonyms=("unfollow",),
        newcomers=("cancel",),
        from_arguments=lambda args: Follow(args.board, args.credentials, "off"),
        shares_page="subscribe",
    ),
)
