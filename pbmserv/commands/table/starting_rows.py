"""The catalogue's rows about finding players and starting games."""

from __future__ import annotations

from pbmserv.commands.table import model
from pbmserv.commands.table.row_types import (
    ANYWHERE,
    BOARD,
    ON_A_BOARD,
    PASSWORD,
    USERID,
    Kind,
    Parameter,
    Row,
    Scope,
    Taken,
)

SECTION = "Starting a game"


def _solo(game: str | None, taken: Taken) -> model.Command:
    """A race of one."""
    options = tuple(word for word in taken.options if word.lower() != "-race")
    return model.Challenge(game or "", taken.userids, ("-race", *options), taken.times)


def _challenge(game: str | None, taken: Taken) -> model.Command:
    """A new board; whoever has proved to challenge sits first unless the names say otherwise."""
    userids = taken.userids
    if taken.who is not None and taken.userid not in userids:
        userids = (taken.userid, *userids)
    return model.Challenge(game or "", userids, taken.options, taken.times, taken.who)


STARTING: tuple[Row, ...] = (
    Row(
        names=("challenge",),
        slips=("challange", "chalenge", "challege", "chalange", "challnege", "chellenge"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("userid1 userid2 [-options]", Kind.PLAYERS),),
        build=_challenge,
        summary="start a new game, with people or with the house",
        example="blackbox challenge alice bob",
        page="challenge",
        needs_game=True,
    ),
    Row(
        names=("solo",),
        slips=("sollo", "soloo"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(Parameter("userid [-options]", Kind.ALONE),),
        build=_solo,
        summary="a box of your own, hidden by the server",
        example="blackbox solo alice -size=8x8 -atoms=3-5",
        page="solo",
        needs_game=True,
    ),
    Row(
        names=("replay",),
        slips=("repaly", "relpay"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD, USERID),
        build=lambda game, t: model.Replay(game, t.board, t.userid),
        summary="try the hidden box of a finished race or solo game yourself",
        example="blackbox replay 12 alice",
        places=ANYWHERE,
        page="replay",
    ),
    Row(
        names=("daily",),
        slips=("dayly", "dialy", "daliy"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD, Parameter("[HH:MM | off]", Kind.SUBJECTS)),
        build=lambda game, t: model.Daily(game or "", t.who, " ".join(t.subjects).lower()),
        summary="the box of the day, the same for everybody, at your hour",
        example="blackbox daily alice PASSWORD 07:30",
        places=ANYWHERE,
        page="daily",
        needs_game=True,
    ),
    Row(
        names=("accept",),
        slips=("accpet", "acept", "accetp"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Accept(game, t.board, t.who),
        summary="take up a challenge",
        example="blackbox accept 12 alice PASSWORD",
        places=ANYWHERE,
        page="accept",
    ),
    Row(
        names=("reject", "decline"),
        slips=("rejcet", "rejetc", "regect"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Reject(game, t.board, t.who),
        summary="turn a challenge down",
        example="blackbox reject 12 alice PASSWORD",
        places=ANYWHERE,
        page="reject",
    ),
    Row(
        names=("seek",),
        slips=("seke", "sekk"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD, Parameter("[n] [-options] | off", Kind.SEATS)),
        build=lambda game, t: model.Seek(game or "", t.who, t.seats, t.options, t.off),
        summary="look for any opponent: two who seek the same get a board",
        example="blackbox seek alice PASSWORD",
        places=ANYWHERE,
        page="seek",
        needs_game=True,
    ),
    Row(
        names=("rematch",),
        slips=("remacth", "rematach", "re-match"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Rematch(game, t.board, t.who),
        summary="the same players and options again, the other side first",
        example="blackbox rematch 12 alice PASSWORD",
        places=ANYWHERE,
        page="rematch",
    ),
)
