"""The letters that a mail may quote, so that quotations of them can be found in it.

They are made again from the record, since their stored octets may be gone.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pbmserv.commands.reading.quoted_lines import Quoted, bare
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.store.delivery import quotable_letters as rows_of_letters
from pbmserv.store.delivery.outbox import QueuedLetter


def quotable_letters(context: CommandContext, player_id: int) -> Quoted:
    """Return the letters to a player that a mail of the player may quote.

    These are the letters that its headers name, the newest ones about its board, and the newest
    ones. Letters to others are left out whatever the headers say, since their contents would show.

    Raises:
        TooMuch: the budget is used up.
    """
    reply_address = context.reply_address
    focus = context.current.focus
    is_digest = reply_address is not None and reply_address.purpose is Purpose.TRAY
    rows = rows_of_letters.to_player(
        context.connection,
        player_id,
        context.submission.answered,
        board_id=focus.board.id if focus is not None else None,
        letter_id=reply_address.about if reply_address is not None and is_digest else None,
    )
    quotes = [quote for row in rows for quote in _words_of_players(row.words)]
    return Quoted(
        (text for row in rows for text in _texts(context, row)),
        (words for by, words in quotes if by),
        (words for by, words in quotes if not by),
    )


def _texts(context: CommandContext, row: QueuedLetter) -> tuple[str, ...]:
    """Return the texts of a letter, which is made once for each mail."""
    texts = context.checked_words.letter_texts.get(row.id)
    if texts is None:
        context.budget.spend(Work.LETTER)
        context.budget.spend(Work.DRAWN, _number_of_parts(row.words))
        silent = replace(row, words=_silent(row.words))
        raw_texts = context.services.letters.texts(context.connection, silent)
        texts = tuple(html.unescape(bare(text)) if "</" in text else text for text in raw_texts)
        context.checked_words.letter_texts[row.id] = texts
    return texts


def _number_of_parts(words: Mapping[str, Any]) -> int:
    """Return the number of letters in a digest or summary, each perhaps with a board."""
    return sum(len(words.get(key, ())) for key in ("waiting", "news", "lines"))


def _silent(words: Any) -> Any:
    """Return the words of a letter without the words of players in it.

    Those are searched for separately. Cut out of the text, they could take a passage along that an
    opponent has repeated on purpose.
    """
    match words:
        case Mapping():
            return {key: "" if key == "said" else _silent(value) for key, value in words.items()}
        case list():
            return [_silent(value) for value in words]
        case _:
            return words


def _words_of_players(words: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the words of players in a letter, with the writer's userid, ``""`` for its reader.

    A refused line is the reader's words, too: if it names no cell, it may be said again.
    """
    for key, value in words.items():
        if key == "said" and isinstance(value, str):
            yield words.get("by", ""), value
        elif key == "echo" and isinstance(value, str) and not any(map(str.isdigit, value)):
            yield "", value
        elif isinstance(value, Mapping):
            yield from _words_of_players(value)
        elif isinstance(value, list):
            for part in value:
                if isinstance(part, Mapping):
                    yield from _words_of_players(part)
