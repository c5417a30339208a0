"""Moves, and words between players: the commands, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.model import AboutBoard, AtBoard, Command, Credentials, Speaking
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

SECTION = "Playing"


@dataclass(frozen=True, slots=True)
class MakeMove(AtBoard):
    """``game move board userid password move[#n]``; `text` is for the game to read."""

    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Resign(AtBoard):
    """``game resign board userid password``"""


@dataclass(frozen=True, slots=True)
class Undo(AtBoard):
    """``game undo board userid password``: take back the last move, if nobody learnt from it."""


@dataclass(frozen=True, slots=True)
class Practise(AtBoard):
    """``game redo|restart board userid password``, on practice boards; `what` is the word."""

    what: str


@dataclass(frozen=True, slots=True)
class Save(AtBoard):
    """``game save board userid password``: a solo board as a file."""


@dataclass(frozen=True, slots=True)
class Load(Command):
    """``game load userid password``: a practice board from a file in the mail."""

    game: str
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Solve(AtBoard):
    """``game solve board userid password``: give a race or a solo game up, and see the box."""


@dataclass(frozen=True, slots=True)
class Queue(AtBoard):
    """``game queue board userid password plan``; `engine.plans` reads it, ``-`` forgets."""

    plan: str


@dataclass(frozen=True, slots=True)
class Submit(AtBoard):
    """``game submit board userid password move[#n]``: show what it would do, play it on
    ``confirm``."""

    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class ConfirmMove(AtBoard):
    """``game confirm board userid password``: play the submitted move."""


@dataclass(frozen=True, slots=True)
class Preview(AboutBoard):
    """``game preview board move``: what the boards would look like; never fires a probe."""

    text: str
    who: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Check(AtBoard):
    """``game check board userid password``: which results one's own markers explain."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class Hint(AtBoard):
    """``game hint board userid password``: what one could work out oneself, the gentlest first."""


@dataclass(frozen=True, slots=True)
class Chat(AtBoard):
    """``game chat board userid password``; the words are in the body."""


@dataclass(frozen=True, slots=True)
class Message(Speaking):
    """``message userid password to…``; the words are in the body."""

    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broadcast(Speaking):
    """``broadcast userid password``: words to everybody who wants them; operators only."""


def _move(taken: Taken) -> Command:
    """A move; the words ``resign`` and ``undo`` in its place are the commands of that name."""
    match taken.text.lower():
        case "resign":
            return Resign(taken.game, taken.board, taken.who)
        case "undo":
            return Undo(taken.game, taken.board, taken.who)
    return MakeMove(taken.game, taken.board, taken.who, taken.text, taken.number)


PLAYING: tuple[Row, ...] = (
    Row(
        names=("move",),
        synonyms=("mov",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("move[#n]", Kind.MOVE)),
        asks=MakeMove,
        make=_move,
        summary="make a move",
        example="blackbox move 12 alice PASSWORD g,+b2",
    ),
    Row(
        names=("resign",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Resign,
        summary="give a game up",
        example="blackbox resign 12 alice PASSWORD",
        traits=Trait.ALONE | Trait.FINAL,
    ),
    Row(
        names=("undo",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Undo,
        summary="take your last move back, if nobody has learnt from it",
        example="blackbox undo 12 alice PASSWORD",
        traits=Trait.ENGLISH | Trait.TALK,
    ),
    Row(
        names=("redo",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Practise,
        make=lambda t: Practise(t.game, t.board, t.who, "redo"),
        summary="in practice: make the move again that you took back",
        example="blackbox redo 12 alice PASSWORD",
        traits=Trait.ENGLISH | Trait.TALK,
    ),
    Row(
        names=("restart",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Practise,
        make=lambda t: Practise(t.game, t.board, t.who, "restart"),
        summary="in practice: begin the same box anew",
        example="blackbox restart 12 alice PASSWORD",
        traits=Trait.ALONE,
    ),
    Row(
        names=("save",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Save,
        summary="get a solo game as a file, with all that was taken back",
        example="blackbox save 12 alice PASSWORD",
    ),
    Row(
        names=("load",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(USERID, PASSWORD),
        asks=Load,
        summary="go on with a saved game, in practice",
        example="blackbox load alice PASSWORD",
        traits=Trait.NEEDS_GAME,
    ),
    Row(
        names=("solve",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Solve,
        summary="give a race or a solo game up, and see the box",
        example="blackbox solve 12 alice PASSWORD",
        traits=Trait.ALONE | Trait.FINAL,
    ),
    Row(
        names=("queue",),
        synonyms=("que", "queu", "enqueue"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("plan | -", Kind.PLAN)),
        asks=Queue,
        make=lambda t: Queue(t.game, t.board, t.who, t.text),
        summary="moves for turns to come, also depending on what happens",
        example="blackbox queue 12 alice PASSWORD g if #: c else j",
        subjects=("plans", "plan"),
    ),
    Row(
        names=("submit",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("move[#n]", Kind.MOVE)),
        asks=Submit,
        summary="see what a move would do; it is played when you confirm",
        example="blackbox submit 12 alice PASSWORD g,+b2",
    ),
    Row(
        names=("confirm",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=ConfirmMove,
        summary="play the move that you submitted",
        example="blackbox confirm 12 alice PASSWORD",
        places=LINES,
    ),
    Row(
        names=("preview",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(BOARD, Parameter("move", Kind.MOVE)),
        asks=Preview,
        proof=(*ON_A_BOARD, Parameter("move", Kind.MOVE)),
        summary="what the boards would look like; fires nothing",
        example="blackbox preview 12 +b2,/a1",
        traits=Trait.ANY_BOARD | Trait.LOOKS,
    ),
    Row(
        names=("check",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=(*ON_A_BOARD, Parameter("[port]", Kind.SUBJECTS)),
        asks=Check,
        make=lambda t: Check(t.game, t.board, t.who, " ".join(t.subjects)),
        summary="which results your own markers explain",
        example="blackbox check 12 alice PASSWORD",
        traits=Trait.ENGLISH | Trait.TALK | Trait.LOOKS,
    ),
    Row(
        names=("hint",),
        synonyms=("hints", "tip"),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Hint,
        summary="a hint, where hints are allowed; in scored games it costs points",
        example="blackbox hint 12 alice PASSWORD",
        traits=Trait.ALONE | Trait.LOOKS,
    ),
    Row(
        names=("chat",),
        section=SECTION,
        scope=Scope.GAME,
        parameters=ON_A_BOARD,
        asks=Chat,
        summary="write to your opponents at a board",
        example="blackbox chat 12 alice PASSWORD",
        traits=Trait.WORDS,
    ),
    Row(
        names=("message",),
        synonyms=("msg",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD, Parameter("to...", Kind.RECIPIENTS)),
        asks=Message,
        make=lambda t: Message(t.who, t.userids),
        summary="write to other players",
        example="message alice PASSWORD bob",
        traits=Trait.WORDS,
    ),
    Row(
        names=("broadcast",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        asks=Broadcast,
        summary="write to everybody who wants such news (operators only)",
        example="broadcast alice PASSWORD",
        traits=Trait.ALONE | Trait.WORDS,
    ),
)
