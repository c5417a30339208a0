"""What a mail leads to: parts of answers, letters to others, and what the log may tell of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pbmserv.commands.table import model
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat, value
from pbmserv.errors import ServerFault
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress
from pbmserv.service.core.words_for_others import Said
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import Sitter
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery.outbox import NewLetter

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext


@value(frozen=True, slots=True)
class Part:
    """One thing a letter says.

    Attributes:
        letter: the template folder that says it.
        words: JSON-ready values that the record does not hold.
        board, ply: the position it shows, if any.
        seat: through whose eyes; ``None`` = a spectator's.
        opens: the board's thread word, when this letter is the first one of its thread.
    """

    letter: str
    words: Mapping[str, Any] = field(default_factory=dict)
    board: int | None = None
    ply: int | None = None
    seat: Seat | None = None
    opens: str = ""

    def __post_init__(self) -> None:
        """Nobody's words get into a letter to others but through the guard.

        Raises:
            ServerFault: these words have not passed it.
        """
        words = self.words
        if "by" in words and words.get("said") and not isinstance(words["said"], Said):
            raise ServerFault("words for others have not passed the guard")


@value(frozen=True, slots=True)
class Notification:
    """A letter to somebody who is not the sender (or to a second address of theirs).

    `digest`: they get one mail a day, so that what is not urgent waits for it.
    """

    recipient: str
    player_id: int | None
    part: Part
    digest: bool = False

    @classmethod
    def sitter(cls, sitter: Sitter, part: Part) -> Notification:
        """A letter to a player at a board."""
        return cls(sitter.address, sitter.player_id, part, sitter.digest)


@value(frozen=True, slots=True)
class Answer:
    """What one command led to. No parts: the sender is told nothing (others may be)."""

    parts: tuple[Part, ...] = ()
    told: tuple[Notification, ...] = ()

    def saying(self, **words: Any) -> Answer:
        """The same, with these words more in each letter to the sender."""
        own = (replace(part, words={**part.words, **words}) for part in self.parts)
        return replace(self, parts=tuple(own))


@dataclass(slots=True)
class Tally:
    """What a mail has led to so far.

    Attributes:
        plies: board and number of each ply that it added.
        done, refused: how many of its commands were.
    """

    plies: list[tuple[int, int]] = field(default_factory=list)
    done: int = 0
    refused: int = 0


@value(frozen=True, slots=True)
class Receipt:
    """A stored mail.

    Attributes:
        mail: its number in the inbox; of a copy, that of the mail it is a copy of.
        outcome: what became of it.
        player: who spoke, 0 for nobody known.
        plies: board and number of each ply that it added.
        done, refused: how many of its commands were.
        letters: how many it led to at once.
    """

    mail: int
    outcome: Literal["taken", "copy", "ignored", "kept", "put-off"]
    player: int = 0
    plies: tuple[tuple[int, int], ...] = ()
    done: int = 0
    refused: int = 0
    letters: int = 0


@value(frozen=True, slots=True)
class Done:
    """What a committed job leaves to do in memory.

    Attributes:
        played: newest positions by board.
        letters: how many were queued.
        bots: it has become a bot's turn somewhere.
        receipt: of the mail that the job stored, if it was one.
    """

    played: Mapping[int, Position]
    letters: int
    bots: bool = False
    receipt: Receipt | None = None

    def remember(self, positions: Positions) -> None:
        """Keep the positions for whoever looks at these boards next."""
        for board_id, position in self.played.items():
            positions.remember(board_id, position)


NOTHING = Done({}, 0)


@value(frozen=True, slots=True)
class CommandResult:
    """What became of one command, and who may read it: (address, player id)."""

    to: tuple[str, int | None]
    echo: str
    status: str
    parts: tuple[Part, ...]
    stopped: model.NotTried | None = None

    def as_json(self) -> dict[str, Any]:
        """What a summary says of it."""
        parts = [asdict(part) for part in self.parts]
        found: dict[str, Any] = {"echo": self.echo, "status": self.status, "parts": parts}
        return found if self.stopped is None else {**found, **asdict(self.stopped)}


def answers_to(context: CommandContext, said: list[CommandResult]) -> list[NewLetter]:
    """One letter back for the whole mail.

    What a player may see goes to that player's own address, so a mail with the commands of
    two players is answered by two letters. What anybody may see goes with the first of them.
    """
    owners = [s.to for s in said if s.to[1] is not None]
    readers: dict[tuple[str, int | None], list[CommandResult]] = {}
    for one in said:
        to = owners[0] if owners and one.to[1] is None else one.to
        readers.setdefault(to, []).append(one)
    letters = []
    for to, lines in readers.items():
        parts = [part for one in lines for part in one.parts]
        if parts:
            letters.append(_answer(context, to, parts, lines))
    return letters


def _answer(
    context: CommandContext,
    to: tuple[str, int | None],
    parts: list[Part],
    lines: list[CommandResult],
) -> NewLetter:
    """The part itself when there is just one, else a summary over all lines."""
    part = parts[0]
    stopped = [one for one in lines if one.stopped]
    many = len(parts) > 1 or context.incoming.reading.multiple or stopped
    if many and part.letter != "stranger":  # which is about none of the lines
        part = Part("summary", {"lines": [line.as_json() for line in lines]})
    words = part.words
    if part.letter == "help" or "refused" in [line.status for line in lines]:
        answers = kept_address(context, to[1])
        if answers is not None:
            words = {**words, "answers": [answers.purpose, answers.about, answers.number]}
    return NewLetter(
        letter=part.letter,
        recipient=to[0],
        words=words,
        message_id=message_id(context.services.mail_domain, part, _turns(context, part)),
        in_reply_to=context.incoming.mail.message_id,
        player_id=to[1],
        board_id=part.board,
        ply=part.ply,
        seat=part.seat,
    )


def kept_address(context: CommandContext, reader: int | None) -> ReplyAddress | None:
    """What a reply to a refusal or to a help page goes on with: the letter that was answered, if
    it was its reader's.

    Args:
        reader: the player who gets it; ``None`` for nobody known.
    """
    answered = context.reply_address
    if answered is None or answered.purpose is Purpose.BOUNCE or answered.player != (reader or 0):
        return None
    return answered


def last_answer(context: CommandContext, answer: NewLetter) -> NewLetter:
    """Tells the reader of an answer that it was the last one for a while."""
    part = Part("no-more-answers", {})
    return NewLetter(
        letter=part.letter,
        recipient=answer.recipient,
        words=part.words,
        message_id=message_id(context.services.mail_domain, part),
        player_id=answer.player_id,
    )


def told_letter(context: CommandContext, told: Notification) -> NewLetter:
    """The row of a letter to somebody else; what can wait for a digest does."""
    part = told.part
    return NewLetter(
        letter=part.letter,
        recipient=told.recipient,
        words=part.words,
        message_id=message_id(context.services.mail_domain, part, _turns(context, part)),
        player_id=told.player_id,
        board_id=part.board,
        ply=part.ply,
        seat=part.seat,
        tray=told.digest and kind_of(part.letter).can_wait,
    )


def _turns(context: CommandContext, part: Part) -> int:
    """Turns used on the board at the position that a letter shows."""
    if part.board is None or part.opens:
        return 0
    position = context.played.get(part.board)
    if position is None:
        board = boards.load(context.connection, part.board)
        assert board is not None
        position = context.services.positions.newest(context.connection, board)
    return (position if part.ply is None else position.at(part.ply)).turns_of(part.seat)


def message_id(mail_domain: MailDomain, part: Part, turns: int = 0) -> str:
    """A Message-ID; where a letter shows a board, it says which position."""
    word = part.opens or secrets.token_hex(8)
    if part.board is None:
        return f"<{part.letter}.{word}@{mail_domain.domain}>"
    return mail_domain.letter_id(part.board, turns, part.seat, word)
