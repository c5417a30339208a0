"""The letters that answer a mail or press."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from pbmserv.commands.grammar.readings import NotTried
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.answer_readers import may_be_forged
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.mails.unproven_answers import Blanking
from pbmserv.store.delivery.outbox import NewLetter

Status: TypeAlias = Literal["done", "refused", "not tried", "left out"]
"""How a line ended; words for others may be "left out" of a line that was carried out."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The end of one line.

    Attributes:
        reader: the address and the player id to which its answer may go.
        echo: the line as it was read.
        stopped: why the line was not tried.
    """

    reader: tuple[str, int | None]
    echo: str
    status: Status
    parts: tuple[Part, ...]
    stopped: NotTried | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the words of this line in a summary."""
        parts = [asdict(part) for part in self.parts]
        words: dict[str, Any] = {"echo": self.echo, "status": self.status, "parts": parts}
        return words if self.stopped is None else {**words, **asdict(self.stopped)}


def answers_to(context: CommandContext, results: Sequence[CommandResult]) -> list[NewLetter]:
    """Return the answers, one for each reader: the only part, or a summary of all lines.

    Lines that only one player may read go to the own address of that player, so a mail with the
    commands of two players has two answers. Lines that anybody may read go with the first of them.
    """
    players = [result.reader for result in results if result.reader[1] is not None]
    by_reader: dict[tuple[str, int | None], list[CommandResult]] = {}
    for result in results:
        reader = players[0] if players and result.reader[1] is None else result.reader
        by_reader.setdefault(reader, []).append(result)
    letters = [_answer(context, reader, lines) for reader, lines in by_reader.items()]
    return [letter for letter in letters if letter is not None]


def _answer(
    context: CommandContext, reader: tuple[str, int | None], lines: Sequence[CommandResult]
) -> NewLetter | None:
    """Return the answer to one reader; `None` if there is nothing to say."""
    is_proven = not may_be_forged(context, [reader[1]])
    if not is_proven:
        lines = _without_foreign_words(context, lines)
    parts = [part for line in lines for part in line.parts]
    if not parts:
        return None
    part = parts[0]
    is_stopped = any(line.stopped for line in lines)
    has_many = len(parts) > 1 or context.submission.reading.multiple or is_stopped
    if has_many and part.letter not in {"stranger", "stranger-refused"}:  # these answer no line
        part = Part("summary", {"lines": [line.as_json() for line in lines]})
    if part.letter == "help" or "refused" in [line.status for line in lines]:
        part = _with_question(context, part, reader[1])
    # A Message-ID is a text of its writer, too.
    answered = context.submission.id if is_proven else ""
    return outbox_row(context, Notification(*reader, part), answered)


def _without_foreign_words(
    context: CommandContext, results: Sequence[CommandResult]
) -> list[CommandResult]:
    """Return the results with only those words of the mail that anybody may be sent."""
    blanking = Blanking.of_mail(context)
    blanked = []
    for result in results:
        parts = tuple(blanking.part(part) for part in result.parts)
        stopped = result.stopped
        if stopped is not None:
            stopped = replace(stopped, example=blanking.example(stopped.example))
        echo = blanking.blank_unknown(result.echo, keep_userids=result.status == "refused")
        blanked.append(replace(result, echo=echo, parts=parts, stopped=stopped))
    return blanked


def _with_question(context: CommandContext, part: Part, reader: int | None) -> Part:
    """Let a reply to this answer still answer the letter that the mail answered."""
    address = kept_address(context, reader)
    if address is None:
        return part
    answers = [address.purpose, address.about, address.number]
    return replace(part, words={**part.words, "answers": answers})


def kept_address(context: CommandContext, reader: int | None) -> ReplyAddress | None:
    """Return the reply address that the mail came to if a refusal or help page keeps it: it must
    belong to the reader.

    Args:
        reader: the player who gets the answer; `None` if unknown.
    """
    address = context.reply_address
    if address is None or address.purpose is Purpose.BOUNCE or address.player != (reader or 0):
        return None
    return address


def last_answer(context: CommandContext, answer: NewLetter) -> NewLetter:
    """Return a letter that tells the reader of an answer that no more will come for a while."""
    part = Part("no-more-answers", {})
    return outbox_row(context, Notification(answer.recipient, answer.player_id, part))
