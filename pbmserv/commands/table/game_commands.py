"""Commands that make boards or change them.

In a reply to one of our letters the address says who speaks and of which board, so `who` and
`board` are ``None`` there and the service fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.terms import Credentials


@dataclass(frozen=True, slots=True)
class Challenge:
    """``game challenge userid1 userid2 … [-options] [--nagtime=…]``

    `options` are the words with one dash, `times` the words with two. `who`: the one who
    challenges, where the password stands behind that userid.
    """

    game: str
    userids: tuple[str, ...]
    options: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    who: Credentials | None = None


@dataclass(frozen=True, slots=True)
class ReplyMove:
    """The first lines of a reply, one of which may be a move.

    Attributes:
        lines: up to five non-blank lines, folded to plain characters, in order.
        after: for each of them the text below it (for the opponent).
        breaks: places of lines above which a blank line stands.
    """

    lines: tuple[str, ...]
    after: tuple[str, ...]
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Accept:
    """``game accept board userid password``

    Attributes:
        below: in a reply, the lines from this one on; one of them may be the first move.
    """

    game: str | None
    board: int | None
    who: Credentials | None
    below: ReplyMove | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """``game reject board userid password``"""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class MakeMove:
    """``game move board userid password move[#n]``; `text` is for the game to read."""

    game: str | None
    board: int | None
    who: Credentials | None
    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Resign:
    """``game resign board userid password``"""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Chat:
    """``game chat board userid password``; the words are in the body."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Seek:
    """``game seek userid password [n] [-options]``; `seats` None = the game's fewest (at least 2).

    `off` is ``seek userid password off``: look no longer.
    """

    game: str
    who: Credentials | None
    seats: int | None = None
    options: tuple[str, ...] = ()
    off: bool = False


@dataclass(frozen=True, slots=True)
class Rematch:
    """``game rematch board userid password``: same players and options, other side first."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Queue:
    """``game queue board userid password plan``; `engine.plans` reads it, ``-`` forgets."""

    game: str | None
    board: int | None
    who: Credentials | None
    plan: str


@dataclass(frozen=True, slots=True)
class Submit:
    """``game submit board userid password move[#n]``: show what it would do, play it on
    ``confirm``."""

    game: str | None
    board: int | None
    who: Credentials | None
    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class ConfirmMove:
    """``game confirm board userid password``: play the submitted move."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Undo:
    """``game undo board userid password``: take back the last move, if nobody learnt from it."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Solve:
    """``game solve board userid password``: give a race or a solo game up, and see the box."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Practise:
    """``game redo|restart board userid password``, on practice boards; `what` is the word."""

    game: str | None
    board: int | None
    who: Credentials | None
    what: str


@dataclass(frozen=True, slots=True)
class Replay:
    """``game replay board userid``: a race or solo game on the same hidden box as a finished one.

    In a reply `board` is None and `userid` "": the letter's board, and who replies.
    """

    game: str | None
    board: int | None
    userid: str


@dataclass(frozen=True, slots=True)
class Save:
    """``game save board userid password``: a solo board as a file."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Load:
    """``game load userid password``: a practice board from a file in the mail."""

    game: str
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class TrayReply:
    """A reply to a digest: ``412: 5`` lines, each a command or a move for one board.

    Attributes:
        board: the number before the colon.
        text: what stands behind it, folded to plain characters.
    """

    board: int
    text: str
