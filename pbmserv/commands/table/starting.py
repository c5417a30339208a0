"""Finding players and starting games: the commands, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.model import AboutBoard, AtBoard, Command, Credentials, ReplyMove
from pbmserv.commands.table.row_types import (
    BOARD,
    LINES,
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

SECTION = "Starting a game"


@dataclass(frozen=True, slots=True)
class Challenge(Command):
    """``game challenge userid1 userid2 … [-options] [--nagtime=…]``

    `options` are the words with one dash, `times` the words with two. `who`: the one who
    challenges, where the password stands behind that userid. `alone`: ``game solo userid``; nobody
    in `userids` = who writes. `address`: ``game challenge [userid] friend@example.org``, somebody
    who may be no player yet.
    """

    game: str
    userids: tuple[str, ...]
    options: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    who: Credentials | None = None
    alone: bool = False
    address: str = ""


@dataclass(frozen=True, slots=True)
class Replay(AboutBoard):
    """``game replay board userid``: a race or solo game on the same hidden box as a finished one.

    In a reply `board` is None and `userid` "": the letter's board, and who replies.
    """

    userid: str
    who: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Daily(Command):
    """``game daily userid password [HH:MM|off]``; `when` is "" for the usual time."""

    game: str
    who: Credentials | None
    when: str


@dataclass(frozen=True, slots=True)
class Accept(AtBoard):
    """``game accept board userid password``

    Attributes:
        below: in a reply, the lines from this one on; one of them may be the first move.
    """

    below: ReplyMove | None = None


@dataclass(frozen=True, slots=True)
class Reject(AtBoard):
    """``game reject board userid password``"""


@dataclass(frozen=True, slots=True)
class Seek(Command):
    """``game seek userid password [n] [-options]``; `seats` None = the game's fewest (at least 2).

    `off` is ``seek userid password off``: look no longer.
    """

    game: str
    who: Credentials | None
    seats: int | None = None
    options: tuple[str, ...] = ()
    off: bool = False


@dataclass(frozen=True, slots=True)
class Rematch(AtBoard):
    """``game rematch board userid password``: same players and options, other side first."""


def _solo(taken: Taken) -> Command:
    """A race of one."""
    options = tuple(word for word in taken.options if word.lower() != "-race")
    words = ("-race", *options)
    userids = taken.userids
    if taken.who is not None:
        userids = (taken.userid, *(userid for userid in userids if userid != taken.userid))
    return Challenge(taken.game or "", userids, words, taken.times, taken.who, alone=True)


def _challenge(taken: Taken) -> Command:
    """A new board; whoever has proved to challenge sits first unless the names say otherwise."""
    userids = taken.userids
    if taken.who is not None and taken.userid not in userids:
        userids = (taken.userid, *userids)
    address = "".join(taken.addresses)
    return Challenge(
        taken.game or "", userids, taken.options, taken.times, taken.who, address=address
    )


STARTING: tuple[Row, ...] = (
    Row(
        names=("challenge",),
        synonyms=("invite",),
        newcomers=("play", "new", "newgame", "begin"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("userid1 userid2 [-options]", Kind.PLAYERS),),
        asks=Challenge,
        make=_challenge,
        summary="start a new game, with people, a friend's address or the house",
        example="blackbox challenge alice bob",
        places=LINES,
        subjects=("options", "invite", "invitation", "invitations"),
        traits=Trait.NEEDS_GAME,
        proof=(USERID, PASSWORD, Parameter("userid1 userid2 [-options]", Kind.PLAYERS)),
    ),
    Row(
        names=("solo",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("userid [-options]", Kind.ALONE),),
        asks=Challenge,
        make=_solo,
        summary="a box of your own, hidden by the server",
        example="blackbox solo alice -size=8x8 -atoms=3-5",
        places=LINES,
        traits=Trait.NEEDS_GAME,
        proof=(USERID, PASSWORD, Parameter("[-options]", Kind.ALONE)),
    ),
    Row(
        names=("replay",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD, USERID),
        asks=Replay,
        summary="try the hidden box of a finished race or solo game yourself",
        example="blackbox replay 12 alice",
        traits=Trait.ENGLISH,
        proof=ON_A_BOARD,
    ),
    Row(
        names=("daily",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD, Parameter("[HH:MM | off]", Kind.SUBJECTS)),
        asks=Daily,
        make=lambda t: Daily(t.game or "", t.who, " ".join(t.subjects).lower()),
        summary="the box of the day, the same for everybody, at your hour",
        example="blackbox daily alice PASSWORD 07:30",
        traits=Trait.NEEDS_GAME | Trait.LOOKS,
    ),
    Row(
        names=("accept",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Accept,
        summary="take up a challenge",
        example="blackbox accept 12 alice PASSWORD",
        traits=Trait.TALK,
    ),
    Row(
        names=("reject", "decline"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Reject,
        summary="turn a challenge down",
        example="blackbox reject 12 alice PASSWORD",
        traits=Trait.ALONE | Trait.TALK,
    ),
    Row(
        names=("seek",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD, Parameter("[n] [-options] | off", Kind.SEATS)),
        asks=Seek,
        summary="look for any opponent: two who seek the same get a board",
        example="blackbox seek alice PASSWORD",
        traits=Trait.NEEDS_GAME,
    ),
    Row(
        names=("rematch",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Rematch,
        summary="the same players and options again, the other side first",
        example="blackbox rematch 12 alice PASSWORD",
        traits=Trait.ENGLISH,
    ),
)
