"""The words of digests: one letter a day with all waiting boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from pbmserv.mail.letter_kinds import kind_of
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
(`ROOM` in `letters`), and has room for the longest words of a letter."""


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
    batches = _batches(news)
    digests = [_words(context, player_id, batches[0], waiting, due)]
    digests += [_words(context, player_id, batch, waiting, only_news=True) for batch in batches[1:]]
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
    waits: Sequence[Waiting],
    due: Mapping[int, Due] = MappingProxyType({}),
    *,
    only_news: bool = False,
) -> dict[str, Any]:
    by_board: dict[int, list[QueuedLetter]] = {}
    for letter in news:
        if letter.board_id is not None:
            by_board.setdefault(letter.board_id, []).append(letter)
    waiting = [
        waiting_board
        for waiting_board in waits
        if not only_news or waiting_board.board.id in by_board
    ]
    # Boards that are nearly due, then those with the newest news, then the others, newest first.
    waiting.sort(
        key=lambda waiting_board: (
            waiting_board.board.id in due,
            max(_ids(by_board, waiting_board.board.id)),
            waiting_board.since,
        ),
        reverse=True,
    )
    shown = {entry.board.id for entry in waiting}
    drawn, more = entries(context, waiting, news=by_board, due=due)
    others = list(_others(context, player_id, by_board, shown))
    others += [
        (letter.id, {"letter": "tray-message", "words": dict(letter.words), **_NO_BOARD})
        for letter in news
        if letter.letter == "message"
    ]
    others.sort(key=lambda dated: dated[0], reverse=True)
    return {
        "waiting": drawn,
        "more": more,
        "news": [entry for _, entry in others],
    }


def answerable(letter: OldLetter) -> dict[str, Any]:
    """Return the words of an old letter that replies need: the boards of a digest, and the turn for
    which each waited."""
    words = letter.words
    if not kind_of(letter.letter).has_entries or not words:
        return {}
    kept = {
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
    """Yield news of boards that do not wait for the reader."""
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


def _ids(by_board: Mapping[int, Sequence[QueuedLetter]], number: int) -> list[int]:
    return [letter.id for letter in by_board.get(number, ())] or [0]
