"""The letters that whoever writes a mail may have in front of them, made once more from the record.

Their kept bytes may be gone by then, and nothing need be kept for this. It is done only for mails
with words for others.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection

from pbmserv.commands.reading.quoted_lines import bare
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.budget import Work
from pbmserv.store.delivery import kept_letters
from pbmserv.store.delivery.outbox import QueuedLetter

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext


class Letters(Protocol):
    """Makes letters from their rows."""

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Text and perhaps HTML of a letter; nothing if it cannot be made any more.

        It may be asked inside of a transaction and must remember nothing of what it sees there.
        """


@dataclass(frozen=True, slots=True)
class Before:
    """The texts of letters without what people say in them; what others and their reader say."""

    texts: tuple[str, ...]
    said: tuple[str, ...]
    own: tuple[str, ...]


def letters_before(context: CommandContext, player_id: int) -> Before:
    """The letters to a player that a mail of theirs may quote.

    Those that its headers name, and the newest ones: of the board that is spoken of, and at all.
    Nobody else's, whatever the headers say, or one could find out what stands in them.

    Raises:
        TooMuch: the mail has spent what it may.
    """
    reply_address = context.reply_address
    is_tray = reply_address is not None and reply_address.purpose is Purpose.TRAY
    rows = kept_letters.answerable(
        context.connection,
        player_id,
        context.incoming.mail.answers,
        board_id=context.focus.board.id if context.focus is not None else None,
        letter_id=reply_address.about if reply_address is not None and is_tray else None,
    )
    texts = tuple(text for row in rows for text in _texts(context, row))
    found = [one for row in rows for one in _said(row.words)]
    return Before(
        texts,
        tuple(said for by, said in found if by),
        tuple(said for by, said in found if not by),
    )


def _texts(context: CommandContext, row: QueuedLetter) -> tuple[str, ...]:
    """What stands in a letter; each is made once for a mail, however many of its words need it."""
    known = context.reread.get(row.id)
    if known is None:
        context.budget.spend(Work.LETTER)
        context.budget.spend(Work.DRAWN, _parts(row.words))
        silent = replace(row, words=_silent(row.words))
        made = context.services.letters.texts(context.connection, silent)
        known = tuple(html.unescape(bare(text)) if "</" in text else text for text in made)
        context.reread[row.id] = known
    return known


def _parts(words: Mapping[str, Any]) -> int:
    """How many letters a digest or a report is made of, each perhaps with a board."""
    listed = (words.get(key, ()) for key in ("waiting", "news", "lines"))
    return sum(len(one) for one in listed)


def _silent(words: Any) -> Any:
    """The words of a letter without what people say in it.

    What they say is looked for apart: cut out of the text, it could take something else with it
    that an opponent has repeated on purpose.
    """
    match words:
        case Mapping():
            return {key: "" if key == "said" else _silent(one) for key, one in words.items()}
        case list():
            return [_silent(one) for one in words]
        case _:
            return words


def _said(words: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who says what in a letter, wherever it stands in it; its reader says it as ``""``."""
    for key, value in words.items():
        if key == "said" and isinstance(value, str):
            yield words.get("by", ""), value
        elif isinstance(value, Mapping):
            yield from _said(value)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    yield from _said(one)
