"""What a mail can ask for: one frozen dataclass for each command.

In a reply to one of our letters the address says who speaks and of which
board, so `who` and `board` are ``None`` there and the service fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pbmserv.errors import PlayerError


@dataclass(frozen=True, slots=True)
class Secret:
    """A password as typed; it never shows itself in a repr."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Credentials:
    """``userid password`` as they stood in the command; userid in lower case."""

    userid: str
    password: Secret


@dataclass(frozen=True, slots=True)
class BoardRef:
    """A board, and the number of the move to look at or to make (``12#7``)."""

    board: int
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """``help [subject…]``; also what an empty mail is read as."""

    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListGames:
    """``list [game…]``"""

    games: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signup:
    """``signup userid password [address…]`` (also ``add``)."""

    userid: str
    password: Secret
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePassword:
    """``change password userid old new``; in a reset reply ``password NEW``: who is None."""

    who: Credentials | None
    new: Secret


@dataclass(frozen=True, slots=True)
class Forgot:
    """``forgot userid``"""

    userid: str


@dataclass(frozen=True, slots=True)
class Yes:
    """A bare ``yes``/``ok``/``confirm`` (or nothing) in reply to a letter that asks."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """``game challenge userid1 userid2 … [-options] [--nagtime=…]``

    `options` are the words with one dash, `times` the words with two.
    """

    game: str
    userids: tuple[str, ...]
    options: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accept:
    """``game accept board userid password``"""

    game: str | None
    board: int | None
    who: Credentials | None


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
class ReplyMove:
    """The first lines of a reply, one of which may be a move.

    Attributes:
        lines: up to five non-blank lines, folded to plain characters, in order.
        after: for each of them the text below it (for the opponent).
    """

    lines: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resign:
    """``game resign board userid password``"""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Show:
    """``game show board[#n]…`` or ``game show userid… [all|active|inactive|next]``.

    `everywhere` is the ``all show userid`` form: boards of every game.
    """

    game: str | None
    boards: tuple[BoardRef, ...] = ()
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class ShowAs:
    """``game showas userid password [board…|all|active|inactive|next]``

    In a reply to a board letter (``show``) `who` is None and `boards` is empty:
    that board, as that player sees it.
    """

    game: str | None
    who: Credentials | None
    boards: tuple[BoardRef, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class Games:
    """``game games userid… [all|active|inactive|next]``; in a reply: the sender's own."""

    game: str | None
    userids: tuple[str, ...] = ()
    which: str = "active"


@dataclass(frozen=True, slots=True)
class Chat:
    """``game chat board userid password``; the words are in the body."""

    game: str | None
    board: int | None
    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Message:
    """``message userid password to…``; the words are in the body."""

    who: Credentials | None
    to: tuple[str, ...]


Command = (
    Help
    | ListGames
    | Signup
    | ChangePassword
    | Forgot
    | Yes
    | Challenge
    | Accept
    | Reject
    | MakeMove
    | ReplyMove
    | Resign
    | Show
    | ShowAs
    | Games
    | Chat
    | Message
)


@dataclass(frozen=True, slots=True)
class Line:
    """One command as it was read.

    Attributes:
        echo: what was read, in one line, every secret blanked as ``***``.
        asked: the command, or why it could not be read.
    """

    echo: str
    asked: Command | PlayerError


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a mail asks for.

    Attributes:
        lines: commands in order; never empty (an empty mail reads as `Help`).
        words: text for the opponent(s): what stands below the commands, without
            quoted text and signature, at most 4,000 characters.
        multiple: the commands came from body lines, so the answer is one letter
            that echoes every line.
    """

    lines: tuple[Line, ...]
    words: str = ""
    multiple: bool = False
