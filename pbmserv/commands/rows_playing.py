"""The catalogue's rows about moves, and about words between players."""

from __future__ import annotations

from pbmserv.commands import model
from pbmserv.commands.forms import (
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

SECTION = "Playing"


def _move(game: str | None, taken: Taken) -> model.Command:
    """A move; the words ``resign`` and ``undo`` in its place are the commands of that name."""
    match taken.move.lower():
        case "resign":
            return model.Resign(game, taken.board, taken.who)
        case "undo":
            return model.Undo(game, taken.board, taken.who)
    return model.MakeMove(game, taken.board, taken.who, taken.move, taken.number)


PLAYING: tuple[Row, ...] = (
    Row(
        names=("move",),
        slips=("mvoe", "moev", "mov", "moove", "omve"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("move[#n]", Kind.MOVE)),
        build=_move,
        summary="make a move",
        example="blackbox move 12 alice PASSWORD g,+b2",
        places=ANYWHERE,
        page="move",
    ),
    Row(
        names=("resign",),
        slips=("resing", "reisgn", "resgin", "rezign"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Resign(game, t.board, t.who),
        summary="give a game up",
        example="blackbox resign 12 alice PASSWORD",
        places=ANYWHERE,
        page="resign",
    ),
    Row(
        names=("undo",),
        slips=("unod", "udno"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Undo(game, t.board, t.who),
        summary="take your last move back, if nobody has learnt from it",
        example="blackbox undo 12 alice PASSWORD",
        places=ANYWHERE,
        page="undo",
    ),
    Row(
        names=("queue",),
        slips=("queu", "qeue", "queueu", "quue", "que", "enqueue"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("plan | -", Kind.PLAN)),
        build=lambda game, t: model.Queue(game, t.board, t.who, t.move),
        summary="moves for turns to come, also depending on what happens",
        example="blackbox queue 12 alice PASSWORD g if #: c else j",
        places=ANYWHERE,
        page="queue",
    ),
    Row(
        names=("submit",),
        slips=("submti", "sumbit", "submitt"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("move[#n]", Kind.MOVE)),
        build=lambda game, t: model.Submit(game, t.board, t.who, t.move, t.number),
        summary="see what a move would do; it is played when you confirm",
        example="blackbox submit 12 alice PASSWORD g,+b2",
        places=ANYWHERE,
        page="submit",
    ),
    Row(
        names=("confirm",),
        slips=("confrim", "cofirm", "comfirm"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.ConfirmMove(game, t.board, t.who),
        summary="play the move that you submitted",
        example="blackbox confirm 12 alice PASSWORD",
        page="confirm",
    ),
    Row(
        names=("preview",),
        slips=("preveiw", "perview", "pre-view"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD, Parameter("move", Kind.MOVE)),
        build=lambda game, t: model.Preview(game, t.board, t.move),
        summary="what the boards would look like; fires nothing",
        example="blackbox preview 12 +b2,/a1",
        places=ANYWHERE,
        page="preview",
    ),
    Row(
        names=("check",),
        slips=("chekc", "cehck", "chcek"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Check(game, t.board, t.who),
        summary="which results your own markers explain",
        example="blackbox check 12 alice PASSWORD",
        places=ANYWHERE,
        page="check",
    ),
    Row(
        names=("chat",),
        slips=("caht", "chta"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        build=lambda game, t: model.Chat(game, t.board, t.who),
        summary="write to your opponents at a board",
        example="blackbox chat 12 alice PASSWORD",
        places=ANYWHERE,
        page="chat",
    ),
    Row(
        names=("message",),
        slips=("mesage", "massage", "messgae", "msg"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD, Parameter("to...", Kind.RECIPIENTS)),
        build=lambda _, t: model.Message(t.who, t.userids),
        summary="write to other players",
        example="message alice PASSWORD bob",
        places=ANYWHERE,
        page="message",
    ),
    Row(
        names=("broadcast",),
        slips=("brodcast", "boradcast", "broadcats"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        build=lambda _, t: model.Broadcast(t.who),
        summary="write to everybody who wants such news (operators only)",
        example="broadcast alice PASSWORD",
        places=ANYWHERE,
        page="broadcast",
    ),
)
