"""Base types of commands, and the result of reading a mail.

The commands are next to their rows in `accounts`, `starting`, `playing` and `looking`. In a reply
to one of our letters, the address tells the player and the board. There `who` and `board` are
`None`, and the service fills them in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pbmserv.errors import PlayerError


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


# -- commands --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A request in a mail."""


@dataclass(frozen=True, slots=True)
class Speaking(Command):
    """A command of a player."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class AboutBoard(Command):
    """A command about a board; `game` is the word in front of it."""

    game: str | None
    board: int | None


@dataclass(frozen=True, slots=True)
class AtBoard(AboutBoard):
    """A command of a player at a board."""

    who: Credentials | None


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
        unsaid: the reply has no words. This confirms an address and nothing else.
    """

    below: ReplyMove | None = None
    unsaid: bool = False


@dataclass(frozen=True, slots=True)
class TrayReply(Command):
    """One line of a reply to a digest, ``412: 5``: a command or a move for one board.

    Attributes:
        board: the number before the colon.
        text: the rest of the line, folded to plain characters.
    """

    board: int
    text: str


@dataclass(frozen=True, slots=True)
class NotTried(Command):
    """A command that was not carried out, or words that were not passed on.

    Attributes:
        why: the reason. For commands: ``"limit"`` (too many commands above), ``"stop"`` (``quit``
            above), ``"prose"`` (too many lines above that are not commands), ``"blank"`` (a blank
            line above), ``"words"`` (in reply to a digest, words above that name no board),
            ``"below"`` (below a command that ends the reading), ``"budget"`` (the commands above
            use all the work that a mail may ask for) or ``"apart"`` (either a move or the initial
            of the writer). For words also: ``"password"`` (they contain the writer's password),
            ``"some-password"`` (another password of the mail), ``"letter"`` (part of the letter
            that is answered), ``"link"`` (a token of this server), ``"quoted"`` or ``"unproven"``
            (nothing shows who wrote them).
        more: the number of further commands that are not listed.
        example: a correct command, ``""`` for none.
    """

    why: str
    more: int = 0
    example: str = ""


# -- a mail's reading ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sender:
    """Facts about the sender of a mail that make its refusals more helpful.

    Attributes:
        userid: the player who seems to have sent the mail, ``""`` for a stranger.
        board: one of that player's boards, 0 for none.
        is_player: tells whether a word is a userid and therefore not secret.
    """

    userid: str
    board: int
    is_player: Callable[[str], bool]


STRANGER = Sender("", 0, lambda _: False)
"""A sender about whom nothing is known, not even which words are userids."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a mail and the command it stands for.

    A line may be ambiguous until the service knows the sender. The attributes `unsaid`, `unnamed`
    and `proving` are functions that read it in another way and return `None` if that makes no
    sense. They are `None` themselves if the command cannot be read that way.

    Attributes:
        echo: the line as answers repeat it, with every secret replaced by ``***``.
        asked: the command, or the refusal if the line cannot be read.
        unsaid: reads the line as if it had no password. Only for mails from a proven sender.
        unnamed: reads the line as if it named no writer. Only for mails that show who writes.
        named: the word in the place of a userid, in lower case; ``""`` for none.
        proving: reads the line as if it contained the writer's userid and password although the
            command needs none; see `Row.proof`.
        again: reads a refused line again with facts about its sender, so that the refusal can
            repeat more words and give a better example.
    """

    echo: str
    asked: Command | PlayerError
    unsaid: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    proving: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    unnamed: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    named: str = field(default="", repr=False, compare=False)
    again: Callable[[Sender], Line] | None = field(default=None, repr=False, compare=False)

    @property
    def who(self) -> Credentials | None:
        """Userid and password of the command, `None` if it has none or was refused."""
        return getattr(self.asked, "who", None)


@dataclass(frozen=True, slots=True)
class Reading:
    """All commands of a mail.

    Attributes:
        lines: the commands in order, at least one; an empty mail reads as `Help`.
        words: text for the opponents from below the commands, without quoted text and signature,
            at most 4,000 characters.
        multiple: the commands are lines of the body, so that one answer echoes each of them.
    """

    lines: tuple[Line, ...]
    words: str = ""
    multiple: bool = False
