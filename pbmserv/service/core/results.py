"""What a mail leads to: parts of answers, letters to others, and what the log may tell of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pbmserv.commands.grammar.readings import NotTried
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat
from pbmserv.errors import ServerFault
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress
from pbmserv.service.core.unproven_answers import may_be_forged, without_foreign_words
from pbmserv.service.core.words_for_others import Said
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import Sitter
from pbmserv.store.delivery.outbox import NewLetter

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


NOTHING = Done({}, 0)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What became of one command, and who may read it: (address, player id)."""

    to: tuple[str, int | None]
    echo: str
    status: str
    parts: tuple[Part, ...]
    stopped: NotTried | None = None

    def as_json(self) -> dict[str, Any]:
        """What a summary says of it."""
        parts = [asdict(part) for part in self.parts]
        found: dict[str, Any] = {"echo": self.echo, "status": self.status, "parts": parts}
        return found if self.stopped is None else {**found, **asdict(self.stopped)}


def answers_to(context: CommandContext, said: list[CommandResult]) -> list[NewLetter]:
    """One letter back for the whole mail: the part itself when there is just one, else a summary
    over all lines.

    What a player may see goes to that player's own address, so a mail with the commands of
    two players is answered by two letters. What anybody may see goes with the first of them.
    """
    owners = [s.to for s in said if s.to[1] is not None]
    readers: dict[tuple[str, int | None], list[CommandResult]] = {}
    for one in said:
        to = owners[0] if owners and one.to[1] is None else one.to
        readers.setdefault(to, []).append(one)
    letters = []
    for to, results in readers.items():
        is_proven = not may_be_forged(context, [to[1]])
        lines = results if is_proven else without_foreign_words(context, results)
        parts = [part for one in lines for part in one.parts]
        if not parts:
            continue
        part, stopped = parts[0], [one for one in lines if one.stopped]
        many = len(parts) > 1 or context.incoming.reading.multiple or stopped
        if many and part.letter != "stranger":  # which is about none of the lines
            part = Part("summary", {"lines": [line.as_json() for line in lines]})
        if part.letter == "help" or "refused" in [line.status for line in lines]:
            part = _going_on(context, part, to[1])
        told = Notification(*to, part)
        # A Message-ID is its writer's text, too.
        answered = context.incoming.mail.message_id if is_proven else ""
        letters.append(told_letter(context, told, answered))
    return letters


def _going_on(context: CommandContext, part: Part, reader: int | None) -> Part:
    """The same, a reply to which goes on with the letter that was answered."""
    kept = kept_address(context, reader)
    if kept is None:
        return part
    return replace(part, words={**part.words, "answers": [kept.purpose, kept.about, kept.number]})


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
    return told_letter(context, Notification(answer.recipient, answer.player_id, part))


def told_letter(context: CommandContext, told: Notification, answers: str = "") -> NewLetter:
    """The row of a letter; what can wait for a digest does.

    Its Message-ID says which position of a board it shows: how many turns were used there.

    Args:
        answers: the Message-ID of the mail that it answers.
    """
    part, mail_domain = told.part, context.services.mail_domain
    if part.board is None:
        identity = message_id(mail_domain, part)
    elif part.opens:
        identity = mail_domain.letter_id(part.board, 0, part.seat, part.opens)
    else:
        position = context.played.get(part.board)
        if position is None:
            board = boards.load(context.connection, part.board)
            assert board is not None
            position = context.services.positions.newest(context.connection, board)
        if part.ply is not None and part.ply < position.number:
            position = position.at(part.ply)
        turns, word = position.turns_of(part.seat), secrets.token_hex(8)
        identity = mail_domain.letter_id(part.board, turns, part.seat, word)
    return NewLetter(
        letter=part.letter,
        recipient=told.recipient,
        words=part.words,
        message_id=identity,
        in_reply_to=answers,
        player_id=told.player_id,
        board_id=part.board,
        ply=part.ply,
        seat=part.seat,
        tray=told.digest and kind_of(part.letter).can_wait,
    )


def message_id(mail_domain: MailDomain, part: Part) -> str:
    """The Message-ID of a letter that is about no board."""
    return f"<{part.letter}.{secrets.token_hex(8)}@{mail_domain.domain}>"
