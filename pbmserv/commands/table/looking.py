"""Help, boards, and what became of them: the commands that look, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.model import AboutBoard, BoardRef, Command, Credentials
from pbmserv.commands.table.row_types import (
    BOARD,
    ON_A_BOARD,
    PASSWORD,
    USERID,
    Kind,
    Parameter,
    Row,
    Scope,
    Taken,
    Trait,
)

SECTION = "Looking"


@dataclass(frozen=True, slots=True)
class Help(Command):
    """``help [subject…]``; also what an empty mail is read as."""

    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListGames(Command):
    """``list [game…]``"""

    games: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Show(Command):
    """``game show board[#n]…`` or ``game show userid… [all|active|inactive|next]``.

    `everywhere` is the ``all show userid`` form: boards of every game.
    """

    game: str | None
    boards: tuple[BoardRef, ...] = ()
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class ShowAs(Command):
    """``game showas userid password [board…|all|active|inactive|next]``

    In a reply to a board letter (``show``) `who` is None, and neither `boards` nor `which` is
    said: that board, as that player sees it.
    """

    game: str | None
    who: Credentials | None
    boards: tuple[BoardRef, ...] = ()
    which: str = ""


@dataclass(frozen=True, slots=True)
class Games(Command):
    """``game games userid… [all|active|inactive|next]``; in a reply: the sender's own."""

    game: str | None
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class Standings(Command):
    """``game standings``: the best players of a game (of every game when None)."""

    game: str | None


@dataclass(frozen=True, slots=True)
class Ratings(Command):
    """``game ratings [userid…]``: how ratings came about; in a reply: one's own."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores(Command):
    """``game scores [kind]``: the best scores on one kind of board; "" = of every kind."""

    game: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Week(Command):
    """``game week``: this week's table of the boxes of the day."""

    game: str | None


@dataclass(frozen=True, slots=True)
class History(Command):
    """``game history [userid…]``: finished boards, newest first; in a reply: one's own."""

    game: str | None
    userids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record(AboutBoard):
    """``game record board``: a finished game as text that can be played back."""

    who: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Report(AboutBoard):
    """``game report board``: what the coach says of a finished game."""

    who: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Follow(Command):
    """``subscribe|notify board userid password``: every turn (``all``) or only the end (``end``);
    ``unsubscribe``: neither (``off``)."""

    board: int | None
    who: Credentials | None
    what: str


def _help(taken: Taken) -> Command:
    """Help; a game in front is the subject when nothing else is asked for."""
    if taken.game and taken.subjects in {(), ("rules",)}:
        return Help((taken.game,))
    return Help(taken.subjects)


def _show(taken: Taken) -> Command:
    """Boards as a spectator sees them, or one as the player whose password stands there does."""
    if taken.who is not None and taken.board is not None:
        return ShowAs(taken.game, taken.who, (BoardRef(taken.board, taken.number),))
    return Show(taken.game, taken.boards, taken.userids, taken.which)


def _list(taken: Taken) -> Command:
    return ListGames(taken.subjects or ((taken.game,) if taken.game else ()))


HELP: tuple[Row, ...] = (
    Row(
        names=("help", "commands", "info"),
        synonyms=("hilfe", "aide", "?"),
        newcomers=("login", "log", "start", "hello", "hi", "hallo", "man", "tutorial"),
        section="Help",
        scope=Scope.BOTH,
        parameters=(Parameter("[subject...]", Kind.SUBJECTS),),
        asks=Help,
        make=_help,
        summary="all commands, or all about one of them",
        example="help move",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("list",),
        section="Help",
        scope=Scope.BOTH,
        parameters=(Parameter("[game...]", Kind.GAMES),),
        asks=ListGames,
        make=_list,
        summary="the games this server knows, their seats and options",
        example="list",
        traits=Trait.LOOKS,
    ),
)

LOOKING: tuple[Row, ...] = (
    Row(
        names=("show", "board", "boards"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("board[#n]... | userid... [which]", Kind.SHOWN),),
        asks=Show,
        make=_show,
        proof=ON_A_BOARD,
        summary="look at a board, or at a player's boards, as a spectator",
        example="blackbox show 12",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("showas", "show as"),
        synonyms=("show-as",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD, Parameter("[board...] [which]", Kind.BOARDS)),
        asks=ShowAs,
        summary="look at your own boards as you see them",
        example="blackbox showas alice PASSWORD 12",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("games",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("[userid...] [which]", Kind.WATCHED),),
        asks=Games,
        summary="a player's games, one line each",
        example="blackbox games alice",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("standings", "standing"),
        synonyms=("ranking", "rankings"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(),
        asks=Standings,
        summary="the best players",
        example="blackbox standings",
        traits=Trait.ENGLISH | Trait.LOOKS,
    ),
    Row(
        names=("ratings", "rating"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("[userid...]", Kind.PEOPLE),),
        asks=Ratings,
        summary="ratings, and how their last changes came about",
        example="blackbox ratings alice",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("scores", "score"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("[kind]", Kind.SUBJECTS),),
        asks=Scores,
        make=lambda t: Scores(t.game, " ".join(t.subjects)),
        summary="the best scores of races and solo games on one kind of board",
        example="blackbox scores 8x8/4",
        traits=Trait.ENGLISH | Trait.LOOKS,
    ),
    Row(
        names=("week",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(),
        asks=Week,
        summary="this week's table of the boxes of the day",
        example="blackbox week",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("history",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("[userid...]", Kind.PEOPLE),),
        asks=History,
        summary="finished games, the newest first",
        example="blackbox history alice",
        traits=Trait.LOOKS,
    ),
    Row(
        names=("record",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD,),
        asks=Record,
        proof=ON_A_BOARD,
        summary="a whole finished game, as text that can be played back",
        example="blackbox record 12",
        traits=Trait.ENGLISH | Trait.ANY_BOARD | Trait.LOOKS,
    ),
    Row(
        names=("report", "coach", "analyse", "analyze"),
        synonyms=("rapport",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD,),
        asks=Report,
        proof=ON_A_BOARD,
        summary="what the coach says of a finished game, probe by probe",
        example="blackbox report 12",
        traits=Trait.ENGLISH | Trait.ANY_BOARD | Trait.LOOKS,
    ),
    Row(
        names=("subscribe",),
        synonyms=("follow",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=ON_A_BOARD,
        asks=Follow,
        make=lambda t: Follow(t.board, t.who, "all"),
        summary="follow a game of others: a letter after every turn",
        example="subscribe 12 alice PASSWORD",
        traits=Trait.ANY_BOARD | Trait.LOOKS,
    ),
    Row(
        names=("notify",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=ON_A_BOARD,
        asks=Follow,
        make=lambda t: Follow(t.board, t.who, "end"),
        summary="follow a game of others: one letter, when it is over",
        example="notify 12 alice PASSWORD",
        shares_page="subscribe",
        traits=Trait.ANY_BOARD | Trait.LOOKS,
    ),
    Row(
        names=("unsubscribe",),
        synonyms=("unfollow",),
        newcomers=("cancel",),  # its refusal says what else can be stopped
        section=SECTION,
        scope=Scope.SERVER,
        parameters=ON_A_BOARD,
        asks=Follow,
        make=lambda t: Follow(t.board, t.who, "off"),
        summary="follow a game no longer",
        example="unsubscribe 12 alice PASSWORD",
        shares_page="subscribe",
        traits=Trait.ANY_BOARD | Trait.LOOKS,
    ),
)
