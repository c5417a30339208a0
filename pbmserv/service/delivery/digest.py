"""The words of digests: one letter a day with all waiting boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from pbmserv.mail.letter_kinds import NAMED_IN_WORDS, kind_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Part
from pbmserv.service.delivery.waiting_boards import (
    Due,
    Waiting,
    entries,
    said_in,
    waiting_for,
)
from pbmserv.store.boards import boards
from pbmserv.store.delivery import unsent_letters
from pbmserv.store.delivery.old_letters import OldLetter
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.boards import BoardStatus

MOST_SAID = 24_000
"""Most octets of players' words in one digest, as HTML. So it is short enough for mail programs
(`letters.lengths.ROOM`), and has room for the longest words of a letter."""


def gathered(context: CommandContext, player_id: int, news: Sequence[QueuedLetter]) -> list[Part]:
    """Return digests in place of letters that waited for another reason: one, if players said
    little."""
    digests = digests_of(context, player_id, news, waiting_for(context, player_id), {})
    return [Part("tray", {**words, "gathered": True}) for words in digests]


def digests_of(
    context: CommandContext,
    player_id: int,
    news: Sequence[QueuedLetter],
    waiting: Sequence[Waiting],
    due: Mapping[int, Due],
) -> list[dict[str, Any]]:
    """Return the words of a digest, or of several if one has no room for all that players said.

    There is none without news, unless a board waits at which another player plays.

    Args:
        due: boards of which the digest reminds, by number.
    """
    if news:
        unsent_letters.mark_folded(context.connection, [letter.id for letter in news])
    elif all(entry.board.terms.alone for entry in waiting):
        return []
    first, *others = _batches(news)
    digests = [_words(context, player_id, first, waiting, due)]
    for batch in others:
        boards_of_batch = {letter.board_id for letter in batch}
        entries = [entry for entry in waiting if entry.board.id in boards_of_batch]
        digests.append(_words(context, player_id, batch, entries, {}))
    return [words for words in digests if any(words.values())]


def _batches(news: Sequence[QueuedLetter]) -> list[list[QueuedLetter]]:
    """Split letters into parts of at most `MOST_SAID`, without cutting words."""
    batches: list[list[QueuedLetter]] = [[]]
    room = MOST_SAID
    for letter in news:
        needed = len(escape(str(letter.words.get("said", ""))).encode())
        if needed > room and batches[-1]:
            batches.append([])
            room = MOST_SAID
        batches[-1].append(letter)
        room -= needed
    return batches


def _words(
    context: CommandContext,
    player_id: int,
    news: Sequence[QueuedLetter],
    waiting: Sequence[Waiting],
    due: Mapping[int, Due],
) -> dict[str, Any]:
    """Return the words of one digest."""
    by_board: dict[int, list[QueuedLetter]] = {}
    for letter in news:
        if letter.board_id is not None:
            by_board.setdefault(letter.board_id, []).append(letter)
    drawn, more = entries(context, _in_order(waiting, by_board, due), news=by_board, due=due)
    shown = {waiting_board.board.id for waiting_board in waiting}
    others = [*_others(context, player_id, by_board, shown), *_messages(news)]
    others.sort(key=lambda dated: dated[0], reverse=True)
    return {"waiting": drawn, "more": more, "news": [entry for _, entry in others]}


def _in_order(
    waiting: Sequence[Waiting],
    by_board: Mapping[int, Sequence[QueuedLetter]],
    due: Mapping[int, Due],
) -> list[Waiting]:
    """Sort boards: those that are nearly due, then those with the newest news, then the others,
    newest first."""

    def rank(waiting_board: Waiting) -> tuple[bool, int, datetime]:
        number = waiting_board.board.id
        newest = max((letter.id for letter in by_board.get(number, ())), default=0)
        return number in due, newest, waiting_board.since

    return sorted(waiting, key=rank, reverse=True)


def words_for_replies(letter: OldLetter) -> dict[str, Any]:
    """Return the words of an old letter that replies need: the boards of a digest, the turn for
    which each waited, and what the reader may still unsubscribe from."""
    words, kind = letter.words, kind_of(letter.letter)
    named = NAMED_IN_WORDS.get(kind.subscription, "")
    kept = {named: words[named]} if named in words else {}
    if not kind.has_entries or not words:
        return kept
    kept |= {
        "waiting": [{"board": entry["board"], "turn": entry["turn"]} for entry in words["waiting"]],
        "more": words["more"],
        "news": [
            {"board": news["board"], "seat": news["seat"]}
            for news in words["news"]
            if news["seat"] is not None
        ],
    }
    return kept | {key: words[key] for key in ("gathered",) if key in words}


def entry_of_table(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a digest that shows a table with these words."""
    return {"letter": "tray-table", "words": table, **_NO_BOARD}


_NO_BOARD: Mapping[str, Any] = {"board": None, "ply": None, "seat": None}


def _others(
    context: CommandContext,
    player_id: int,
    by_board: Mapping[int, Sequence[QueuedLetter]],
    shown: set[int],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield news of boards that do not wait for the reader, each behind its newest letter's id."""
    for number, letters in by_board.items():
        board = boards.load(context.connection, number) if number not in shown else None
        if board is None:
            continue
        newest = letters[-1]
        if newest.seat is not None and board.sitters[newest.seat].player_id != player_id:
            continue  # another player has the seat now
        says = said_in(letters)
        if board.status == BoardStatus.DECLINED or newest.letter == "followed":
            entry = {"letter": newest.letter, "words": dict(newest.words), "ply": newest.ply}
        elif board.status == BoardStatus.FINISHED and not says:
            continue  # its result was mailed at once
        else:
            words = {
                "event": "news",
                "undecided": list(board.undecided),
                "asked_by": [],
                "says": says,
                "due": None,
            }
            entry = {"letter": "tray-board", "words": words, "ply": board.plies}
        yield newest.id, {**entry, "board": number, "seat": newest.seat}


def _messages(news: Sequence[QueuedLetter]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield messages of other players, which are about no board."""
    for letter in news:
        if letter.letter == "message":
            entry = {"letter": "tray-message", "words": dict(letter.words), **_NO_BOARD}
            yield letter.id, entry
