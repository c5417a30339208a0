"""The types that commands are made of, and the commands that only a reply can be.

A line of a mail is read into a command: an object whose type says what to do, and whose fields hold
the words of the line. Here are

* the types of fields: a password, a userid with its password, a board;
* the base types, by what a command is about: a player, a board, or a player at a board;
* the commands without a name, such as the bare move that most replies consist of.

The type of each command with a name is next to its row in the module of its topic (`playing` has
`Resign`). In a reply to one of our letters, the address tells the player and the board. There
`credentials` and `board` are `None`, and the service fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secret:
    """A password as typed, hidden from `repr`."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Userid, in lower case, and password of a command."""

    userid: str
    password: Secret


VOUCHED = Secret("-")
"""Replaces the password if the mail itself proves who sent it."""


@dataclass(frozen=True, slots=True)
class BoardRef:
    """A board and the number of one of its moves (``12#7``)."""

    board: int
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A request in a mail."""


@dataclass(frozen=True, slots=True)
class Speaking(Command):
    """A command of a player."""

    credentials: Credentials | None


@dataclass(frozen=True, slots=True)
class AboutBoard(Command):
    """A command about a board; `game` is the word in front of it."""

    game: str | None
    board: int | None


@dataclass(frozen=True, slots=True)
class AtBoard(AboutBoard):
    """A command of a player at a board."""

    credentials: Credentials | None


@dataclass(frozen=True, slots=True)
class ReplyMove(Command):
    """The first lines of a reply, one of which may be a move.

    Attributes:
        lines: up to five non-blank lines, folded to plain characters.
        after: for each line, the text below it, which is for the opponent.
        breaks: indices of the lines that follow a blank line.
    """

    lines: tuple[str, ...]
    after: tuple[str, ...]
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Yes(Command):
    """A bare ``yes``/``ok``/``confirm`` in reply to a letter that asks.

    Attributes:
        below: the following lines, one of which may be a move; `None` if there are none.
        is_empty: the reply has no words. This confirms an address and nothing else.
    """

    below: ReplyMove | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class TrayReply(Command):
    """One line of a reply to a digest, ``412: 5``: a command or a move for one board.

    Attributes:
        board: the number before the colon.
        text: the rest of the line, folded to plain characters.
    """

    board: int
    text: str
