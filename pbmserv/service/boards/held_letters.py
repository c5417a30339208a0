"""Letters that are held back until a bot has moved, or the coach has finished a report or a hint.

The letter to a player who has moved is held until the bot's answer can be written into it. Where
nobody sees the moves of others, as in races, no letter is held for a bot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pbmserv.mail.letter_kinds import LetterKind, kind_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.said import said_again
from pbmserv.store import bots as rows
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter


def queue_or_hold(context: CommandContext, letters: Sequence[NewLetter]) -> None:
    """Queue the letters of a mail; hold back those that wait for a bot or the coach."""
    waiting = {board_id for board_id, together in context.effects.bot_turns if together}
    at_once: list[NewLetter] = []
    for letter in letters:
        boards = waiting & _boards_in(letter) if letter.recipient else set()
        coach_boards = context.effects.boards_for_coach & _reports_in(letter)
        if boards or coach_boards:
            turns = sorted(boards)
            rows.queue_waiting_letter(
                context.connection, letter, turns, context.now, context.mail_id, coach_boards
            )
            waiting -= boards
        else:
            at_once.append(letter)
    outbox.add(context.connection, at_once, context.now, context.mail_id)


def _reports_in(letter: NewLetter) -> set[int]:
    """Return the boards whose reports and hints are in a letter."""
    return {board for kind, board, _ in _parts_in(letter) if kind.waits_for_coach and board}


def _boards_in(letter: NewLetter) -> set[int]:
    """Return the boards that a letter shows to one of their players after a turn."""
    if letter.for_digest:
        return set()
    return {
        board
        for kind, board, seat in _parts_in(letter)
        if kind.waits_for_bot and board and seat is not None
    }


def _parts_in(letter: NewLetter) -> Iterator[tuple[LetterKind, int | None, int | None]]:
    """Yield kind, board and seat of a letter and, if it is a summary, of its parts."""
    yield kind_of(letter.letter), letter.board_id, letter.seat
    for line in letter.words["lines"] if letter.letter == "summary" else ():
        for part in line["parts"]:
            yield kind_of(part["letter"]), part["board"], part["seat"]


def takes(held: QueuedLetter, notification: Notification) -> bool:
    """Return whether a notification of a bot's move belongs in a letter that waits for it."""
    part = notification.part
    return (
        notification.player_id == held.player_id
        and kind_of(part.letter).tells_turn
        and part.seat is not None
        and part.board in _boards_in(held)
    )


def with_news(held: QueuedLetter, news: Part) -> NewLetter:
    """Return a letter that waited, with the bot's move in it."""
    if held.letter == "summary":
        return replace(held, words=_summary_with(held.words, news))
    old = Part(held.letter, said_again(held.words), held.board_id, held.ply, news.seat)
    new = _merged(old, news)
    return replace(held, letter=new.letter, words=new.words, ply=new.ply)


def _summary_with(words: Mapping[str, Any], news: Part) -> dict[str, Any]:
    """Return the words of a summary whose newest part about the board shows the bot's move."""
    lines = [{**line, "parts": list(line["parts"])} for line in words["lines"]]
    for line in reversed(lines):
        for index in reversed(range(len(line["parts"]))):
            part = line["parts"][index]
            if part["board"] == news.board and kind_of(part["letter"]).waits_for_bot:
                old_words = said_again(part["words"])
                old = Part(part["letter"], old_words, part["board"], part["ply"], news.seat)
                new = _merged(old, news)
                changed = {"letter": new.letter, "words": dict(new.words), "ply": new.ply}
                line["parts"][index] = {**part, **changed}
                return {**words, "lines": lines}
    return {**words, "lines": lines}


def _merged(old: Part, news: Part) -> Part:
    """Return one part that shows the reader's move and the bot's answer."""
    if old.letter == "started" and news.letter == "board":
        return replace(old, ply=news.ply)  # the bot has only hidden its atoms
    event = old.words.get("event")
    ply = old.ply or 0
    after = old.words["after"] if event == "run" else ply - 1 if event == "moved" else ply
    words = {**old.words, **news.words, "event": "run", "after": after}
    for name in ("said", "by", "said_to"):
        words[name] = old.words.get(name, "")
    return Part(news.letter, words, news.board, news.ply, news.seat)
