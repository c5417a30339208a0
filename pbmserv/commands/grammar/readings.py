"""The reading of a mail: its lines, each with the command that it means or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pbmserv.commands.grammar.examples import STRANGER, Sender
from pbmserv.commands.table.command_types import Command, Credentials
from pbmserv.errors import PlayerError

BLANK = "***"
"""Stands for a secret in an echo, and for words that an answer does not repeat."""

REST = "..."
"""Stands for words that an echo leaves out."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a mail and the command that it means.

    A line may be ambiguous until the service knows the sender. Three attributes are functions that
    read it in another way and return `None` if that makes no sense. The attributes are `None`
    themselves if the command cannot be read that way.

    Attributes:
        echo: the line as answers repeat it: the command by its name, the rest as it was written,
            with every secret replaced by ``***``.
        meaning: the command, or the refusal if the line cannot be read.
        without_password: reads the line as if it had no password. Only for mails from a proven
            sender.
        with_proof: reads the line as if it contained the writer's userid and password although the
            command needs none; see `Row.proof`.
        without_writer: reads the line as if it named no writer. Only for mails that show who
            writes.
        userid_word: the word in the place of a userid, in lower case; ``""`` for none.
        for_sender: reads a refused line again with facts about its sender, so that the refusal can
            repeat more words and give a better example.
    """

    echo: str
    meaning: Command | PlayerError
    without_password: Callable[[], Line | None] | None = field(
        default=None, repr=False, compare=False
    )
    with_proof: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    without_writer: Callable[[], Line | None] | None = field(
        default=None, repr=False, compare=False
    )
    userid_word: str = field(default="", repr=False, compare=False)
    for_sender: Callable[[Sender], Line] | None = field(default=None, repr=False, compare=False)

    @property
    def credentials(self) -> Credentials | None:
        """Userid and password of the command, `None` if it has none or was refused."""
        return getattr(self.meaning, "credentials", None)

    @property
    def is_ambiguous(self) -> bool:
        """Whether the line can be read in another way."""
        others = (self.without_password, self.without_writer, self.with_proof)
        return any(other is not None for other in others)


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
            that is answered), ``"link"`` (a token of this server), ``"hidden"`` (a cell that the
            move keeps secret), ``"quoted"`` or ``"unproven"`` (nothing shows who wrote them).
        more: the number of further commands that are not listed.
        example: a correct command, ``""`` for none.
    """

    why: str
    more: int = 0
    example: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The commands of a mail.

    Attributes:
        lines: the commands in order, at least one; an empty mail reads as `Help`.
        words: text for the opponents from below the commands, without quoted text and signature,
            at most 4,000 characters.
        multiple: the commands are lines of the body, so that one answer echoes each of them.
    """

    lines: tuple[Line, ...]
    words: str = ""
    multiple: bool = False


def read_without_sender(reading: Callable[[Sender], Line]) -> Line:
    """Read a line without facts about its sender. If it is refused, let it be read with them."""
    line = reading(STRANGER)
    return replace(line, for_sender=reading) if isinstance(line.meaning, PlayerError) else line
