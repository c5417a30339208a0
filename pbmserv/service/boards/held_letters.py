"""Letters that are held back until a bot has moved, or the coach has finished a report or a hint.

The letter to a player who has moved is held until the bot's answer can be written into it. Where
nobody sees the moves of others, as in races, no letter is held for a bot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.mail.letter_kinds import kind_of
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
        boards = waiting & set(_boards_in(letter)) if letter.recipient else set()
        reported = context.effects.reported & set(_reports_in(letter))
        if boards or reported:
            turns = sorted(boards)
            rows.queue_waiting_letter(
                context.connection, letter, turns, context.now, context.mail_id, reported
            )
            waiting -= boards
        else:
            at_once.append(letter)
    outbox.add(context.connection, at_once, context.now, context.mail_id)


def _reports_in(letter: NewLetter) -> Iterator[int]:
    """Yield the boards whose reports and hints are in a letter."""
    if kind_of(letter.letter).waits_for_coach and letter.board_id is not None:
        yield letter.board_id
    for line in letter.words.get("lines", ()) if letter.letter == "summary" else ():
        parts = (part for part in line["parts"] if kind_of(part["letter"]).waits_for_coach)
        yield from (part["board"] for part in parts)


def _boards_in(letter: NewLetter) -> Iterator[int]:
    """Yield the boards that a letter shows to one of their players after a turn."""
    if letter.for_digest:
        return
    if (
        kind_of(letter.letter).waits_for_bot
        and letter.seat is not None
        and letter.board_id is not None
    ):
        yield letter.board_id
    for line in letter.words.get("lines", ()) if letter.letter == "summary" else ():
        for part in line["parts"]:
            if kind_of(part["letter"]).waits_for_bot and part["seat"] is not None:
                yield part["board"]


@dataclass(frozen=True, slots=True)
class HeldLetter:
    """A letter that waits for a bot, whose move will be written into it."""

    row: QueuedLetter

    def takes(self, notification: Notification) -> bool:
        """Return whether a notification belongs into the letter."""
        part = notification.part
        return (
            notification.player_id == self.row.player_id
            and kind_of(part.letter).tells_turn
            and part.seat is not None
            and part.board in set(_boards_in(self.row))
        )

    def with_news(self, news: Part) -> NewLetter:
        """Return the letter with the bot's move in it; its Message-ID stays."""
        row = self.row
        if row.letter == "summary":
            return replace(row, words=_summary_with(row.words, news))
        old = Part(row.letter, said_again(row.words), row.board_id, row.ply, news.seat)
        new = _merged(old, news)
        return replace(row, letter=new.letter, words=new.words, ply=new.ply)


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
        return replace(old, ply=news.ply)  # only the atoms were hidden
    event = old.words.get("event")
    ply = old.ply or 0
    after = old.words["after"] if event == "run" else ply - 1 if event == "moved" else ply
    words = {**old.words, **news.words, "event": "run", "after": after}
    for name in ("said", "by", "said_to"):
        words[name] = old.words.get(name, "")
    return Part(news.letter, words, news.board, news.ply, news.seat)
