"""What a mail can ask for: what commands are made of, and a mail's reading.

The commands themselves stand beside their rows: `accounts`, `starting`, `playing`, `looking`. In a
reply to one of our letters the address says who speaks and of which board, so `who` and `board`
are ``None`` there and the service fills them in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pbmserv.engine.types import value
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


VOUCHED = Secret("-")
"""Stands in a password's place: the mail itself proves who sent it."""


@dataclass(frozen=True, slots=True)
class BoardRef:
    """A board, and the number of the move to look at or to make (``12#7``)."""

    board: int
    number: int | None = None


# -- commands --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a mail asks for."""


@dataclass(frozen=True, slots=True)
class Speaking(Command):
    """A command of a player: who speaks."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class AboutBoard(Command):
    """A command about a board, and the game that stood in front."""

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
        lines: up to five non-blank lines, folded to plain characters, in order.
        after: for each of them the text below it (for the opponent).
        breaks: places of lines above which a blank line stands.
    """

    lines: tuple[str, ...]
    after: tuple[str, ...]
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Yes(Command):
    """A bare ``yes``/``ok``/``confirm`` in reply to a letter that asks.

    Attributes:
        below: the lines below it, if any; one of them may be a move.
        unsaid: the reply has no words, which is an answer only to who asks whether an address
            is somebody's at all.
    """

    below: ReplyMove | None = None
    unsaid: bool = False


@dataclass(frozen=True, slots=True)
class TrayReply(Command):
    """A reply to a digest: ``412: 5`` lines, each a command or a move for one board.

    Attributes:
        board: the number before the colon.
        text: what stands behind it, folded to plain characters.
    """

    board: int
    text: str


@dataclass(frozen=True, slots=True)
class NotTried(Command):
    """Stands in the place of what a mail says and nobody has carried out or passed on.

    Attributes:
        why: ``"limit"`` (too many commands above), ``"stop"`` (``quit`` above), ``"prose"`` (too
            many lines above that are no command), ``"blank"`` (a blank line above),
            ``"words"`` (behind a digest, words above that name no board), ``"below"``
            (it stands below a command that ends the reading), ``"budget"`` (what stands above is as
            much work as one mail may ask for) or ``"apart"`` (it may be a move, or an initial below
            a move); of words for others also ``"password"`` (the writer's is in
            them), ``"some-password"`` (another one of the same mail), ``"letter"`` (it stands in
            a letter that is answered), ``"link"`` (a token of this server), ``"quoted"`` or
            ``"unproven"`` (nothing shows who wrote them).
        more: further commands that are not listed one by one.
        example: a command that would be right.
    """

    why: str
    more: int = 0
    example: str = ""


# -- a mail's reading ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sender:
    """What is known of whoever wrote a line that was refused, so that the refusal can say more.

    Attributes:
        userid: of the player whose mail it seems to be; ``""`` = a stranger.
        board: one of that player's boards; 0 = none.
        is_player: whether a word is somebody's userid, and so no secret.
    """

    userid: str
    board: int
    is_player: Callable[[str], bool]


STRANGER = Sender("", 0, lambda _: False)
"""Nothing is known, not even which words are userids."""


@value(frozen=True, slots=True)
class Line:
    """One command as it was read.

    Attributes:
        echo: what was read, in one line, every secret blanked as ``***``.
        asked: the command, or why it could not be read.
        unsaid: reads the line as one without a password, where it could be one; ``None``
            comes back if it makes no sense either. Only for mails whose sender is proven.
        unnamed: reads the line as one that does not say who writes. Only for mails that show it.
        named: the word in the place where a userid belongs, in lower case; ``""`` = none.
        proving: reads a line of a command that needs no password as one with the writer's userid
            and password in it (`Row.proof`); returns ``None`` if it makes no sense so. Only the
            service knows which word is a password.
        again: reads a line that was refused once more, for somebody of whom more is known: what
            may be repeated, and which example is right, depends on that.
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
        """Userid and password in it; ``None`` where the command has none, or was not read."""
        return getattr(self.asked, "who", None)


@value(frozen=True, slots=True)
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
