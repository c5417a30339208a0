"""Commands at a board and messages between players, and their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pbmserv.commands.table.command_types import AboutBoard, AtBoard, Command, Credentials, Speaking
from pbmserv.commands.table.row_types import LINES, Arguments, Kind, Parameter, Trait
from pbmserv.commands.table.shapes import (
    ABOUT_BOARD,
    ABOUT_MYSELF,
    AT_BOARD,
    MYSELF_IN_GAME,
    in_section,
)

SECTION = "Playing"


@dataclass(frozen=True, slots=True)
class MakeMove(AtBoard):
    """``game move board userid password move[#n]``; the game reads `text`."""

    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Resign(AtBoard):
    """``game resign board userid password``"""


@dataclass(frozen=True, slots=True)
class Give(AtBoard):
    """``game give board userid password 3d``: add days to the opponent's clock."""

    text: str


@dataclass(frozen=True, slots=True)
class Claim(AtBoard):
    """``game claim board userid password [draw|abort]`` from an opponent who has been silent."""

    text: str


@dataclass(frozen=True, slots=True)
class Undo(AtBoard):
    """``game undo board userid password``: take back the last move if nobody learned from it."""


@dataclass(frozen=True, slots=True)
class Practise(AtBoard):
    """``game redo|restart board userid password`` on a practice board; `what` is the word."""

    what: Literal["redo", "restart"]


@dataclass(frozen=True, slots=True)
class Save(AtBoard):
    """``game save board userid password``: send a board as a file."""


@dataclass(frozen=True, slots=True)
class Load(Command):
    """``game load userid password``: make a practice board from a file in the mail."""

    game: str
    credentials: Credentials | None


@dataclass(frozen=True, slots=True)
class Solve(AtBoard):
    """``game solve board userid password``: give up a race or solo game and show the box."""


@dataclass(frozen=True, slots=True)
class Queue(AtBoard):
    """``game queue board userid password plan``; `engine.plans` reads `text`, ``-`` drops it."""

    text: str


@dataclass(frozen=True, slots=True)
class TakeNote(AtBoard):
    """``game note board userid password text``: keep a note for oneself; ``-`` deletes it."""

    text: str


@dataclass(frozen=True, slots=True)
class Submit(AtBoard):
    """``game submit board userid password move[#n]``: show the effect of a move.

    ``confirm`` plays it.
    """

    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class ConfirmMove(AtBoard):
    """``game confirm board userid password``: play the submitted move."""


@dataclass(frozen=True, slots=True)
class Preview(AboutBoard):
    """``game preview board move``: show the boards after a move without firing a probe."""

    text: str
    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Check(AtBoard):
    """``game check board userid password [port]``: show which results the markers explain."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Hint(AtBoard):
    """``game hint board userid password``: show the gentlest hint that was not shown yet."""


@dataclass(frozen=True, slots=True)
class Chat(AtBoard):
    """``game chat board userid password``; the words are in the body."""


@dataclass(frozen=True, slots=True)
class Message(Speaking):
    """``message userid password to…``; the words are in the body."""

    userids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broadcast(Speaking):
    """``broadcast userid password``: write to all players who want such news; operators only."""


def _move(arguments: Arguments) -> Command:
    """Make a move, or the command ``resign`` or ``undo`` if its name is in place of the move."""
    match arguments.text.lower():
        case "resign":
            return Resign(arguments.game, arguments.board, arguments.credentials)
        case "undo":
            return Undo(arguments.game, arguments.board, arguments.credentials)
    return MakeMove(
        arguments.game, arguments.board, arguments.credentials, arguments.text, arguments.number
    )


MOVE = Parameter("move[#n]", Kind.MOVE)

PLAYING = in_section(
    SECTION,
    AT_BOARD.row(
        "move",
        MakeMove,
        "make a move",
        more=(MOVE,),
        example="g,+b2",
        synonyms=("mov",),
        from_arguments=_move,
    ),
    AT_BOARD.row("resign", Resign, "give a game up", traits=Trait.ALONE | Trait.FINAL),
    AT_BOARD.row(
        "give",
        Give,
        "give your opponent more time",
        more=(Parameter("days", Kind.TEXT),),
        example="3d",
        traits=Trait.ENGLISH,
    ),
    AT_BOARD.row(
        "claim",
        Claim,
        "end a game whose other player has been silent for long",
        more=(Parameter("[draw | abort]", Kind.TEXT),),
        traits=Trait.ENGLISH | Trait.FINAL,
    ),
    AT_BOARD.row(
        "undo",
        Undo,
        "take your last move back, if nobody has learnt from it",
        traits=Trait.ENGLISH | Trait.TALK,
    ),
    AT_BOARD.row(
        "redo",
        Practise,
        "in practice: repeat the move that you took back",
        from_arguments=lambda args: Practise(args.game, args.board, args.credentials, "redo"),
        traits=Trait.ENGLISH | Trait.TALK | Trait.BOXES,
    ),
    AT_BOARD.row(
        "restart",
        Practise,
        "in practice: begin the same box again",
        from_arguments=lambda args: Practise(args.game, args.board, args.credentials, "restart"),
        traits=Trait.ALONE | Trait.BOXES,
    ),
    AT_BOARD.row("save", Save, "get a solo game, or a game of chess, as a file", also=("pgn",)),
    MYSELF_IN_GAME.row(
        "load",
        Load,
        "continue a saved game, in practice",
        traits=Trait.NEEDS_GAME | Trait.BOXES,
    ),
    AT_BOARD.row(
        "solve",
        Solve,
        "give a race or a solo game up, and see the box",
        traits=Trait.ALONE | Trait.FINAL | Trait.BOXES,
    ),
    AT_BOARD.row(
        "queue",
        Queue,
        "moves for turns to come, also depending on what happens",
        more=(Parameter("plan | -", Kind.PLAN),),
        example="g if #: c else j",
        synonyms=("que", "queu", "enqueue"),
        subjects=("plans", "plan"),
    ),
    AT_BOARD.row(
        "note",
        TakeNote,
        "keep a note at a board that nobody else reads",
        more=(Parameter("text | -", Kind.PLAN, "WORDS"),),
        example="my plan is the left side",
    ),
    AT_BOARD.row(
        "submit",
        Submit,
        "see what a move would do; it is played when you confirm",
        more=(MOVE,),
        example="g,+b2",
    ),
    AT_BOARD.row("confirm", ConfirmMove, "play the move that you submitted", places=LINES),
    ABOUT_BOARD.row(
        "preview",
        Preview,
        "what the boards would look like; fires nothing",
        more=(Parameter("move", Kind.MOVE),),
        example="+b2,/a1",
    ),
    AT_BOARD.row(
        "check",
        Check,
        "which results your own markers explain",
        more=(Parameter("[port]", Kind.TEXT),),
        traits=Trait.ENGLISH | Trait.TALK | Trait.LOOKS | Trait.BOXES,
    ),
    AT_BOARD.row(
        "hint",
        Hint,
        "a hint, where hints are allowed; in scored games it costs points",
        synonyms=("hints", "tip"),
        traits=Trait.ALONE | Trait.LOOKS | Trait.BOXES,
    ),
    AT_BOARD.row("chat", Chat, "write to your opponents at a board", traits=Trait.WORDS),
    ABOUT_MYSELF.row(
        "message",
        Message,
        "write to other players",
        more=(Parameter("to...", Kind.RECIPIENTS),),
        example="bob",
        synonyms=("msg",),
        traits=Trait.WORDS,
    ),
    ABOUT_MYSELF.row(
        "broadcast",
        Broadcast,
        "write to everybody who wants such news (operators only)",
        traits=Trait.ALONE | Trait.WORDS,
    ),
)
