"""Bots in a transaction: whom they play, when they are to move, how a move gets into a letter.

A bot may take long to think, so its move is not made in the transaction that makes it the bot's
turn. That transaction leaves a row, and keeps back the letter to the one who moved; `bot_worker`
thinks beside the writer and makes the move, and the letter goes out with both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.registry import AnyGame, must_agree
from pbmserv.engine.types import Seat
from pbmserv.errors import OptionError, Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.said import said_again
from pbmserv.store import bots as rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter
from pbmserv.store.tables import PlayerState

MOST = 20
"""Running boards that one player may have with each bot."""


def is_bot(one: Player | Sitter) -> bool:
    """Whether this is a bot and not a person."""
    return one.state == PlayerState.BOT


def invited(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: Sequence[str],
) -> Player:
    """The bot of this userid, which is to play a board with these options among *userids*.

    Raises:
        Refused: bots do not play this game.
        OptionError: not with these options.
    """
    if userid not in game.bots:
        levels = ", ".join(game.bots)
        raise Refused("house-plays-not", part=userid, title=game.info.title, levels=levels)
    try:
        must_agree(game, userid, options, len(userids))
    except OptionError as error:
        refusal = error.refusal
        line = (game.info.key, "challenge", *userids, refusal.example)
        example = " ".join(filter(None, line))
        raise OptionError(
            refusal.code, part=refusal.part, example=example, **refusal.values
        ) from error
    return rows.account(context.connection, userid, context.now)


def rates(game: AnyGame, sitting: Sequence[Player | Sitter]) -> bool:
    """Whether a board of these players can change ratings: of people alone, or of one person and
    one bot whose strength is known."""
    bots = [one for one in sitting if is_bot(one)]
    if not bots:
        return True
    return len(bots) == 1 and len(sitting) == 2 and bots[0].userid in game.info.strength


def must_have_room(context: CommandContext, sender: Player, others: Sequence[Player]) -> None:
    """Refuse one board too many with a bot."""
    for one in others:
        if (
            is_bot(one)
            and challenges.running_between(context.connection, sender.id, one.id) >= MOST
        ):
            example = f"games {sender.userid}"
            raise Refused("many-with-house", part=one.userid, most=MOST, example=example)


def must_have_listeners(board: BoardRow, sitter: Sitter) -> None:
    """Refuse words to a board at which nobody would hear them, or only bots."""
    others = [one for one in board.sitters if one.player_id != sitter.player_id]
    if not others:
        raise Refused("nobody-there", part="chat", example="show")
    if all(map(is_bot, others)):
        raise Refused("house-deaf", part=others[0].userid, example="show")


def to_move(board: BoardRow, position: Position) -> Seat | None:
    """The first seat of a bot that may use a turn."""
    return min(board.bots & position.game.to_act(position.state), default=None)


def take_note(context: CommandContext, board: BoardRow, position: Position) -> None:
    """After a ply of a board that all have agreed to play, or when it begins: do bots wait?"""
    if to_move(board, position) is None:
        return
    if rows.wait(context.connection, board.id, context.now):
        context.bot_turns.append((board.id, not position.apart))


def queue(context: CommandContext, letters: Sequence[NewLetter]) -> None:
    """Queue a mail's letters; those with a report wait for that, and those to people who wait for
    a bot wait with them.

    Only the answer to the one who has just moved: it is the letter that the bot's move belongs
    in. Where nobody else sees the moves (races), nothing waits.
    """
    waiting = {board_id for board_id, together in context.bot_turns if together}
    at_once: list[NewLetter] = []
    for letter in letters:
        boards = waiting & set(_boards_in(letter)) if letter.recipient else set()
        reported = context.reported & set(_reports_in(letter))
        if boards or reported:
            turns = sorted(boards)
            rows.hold(context.connection, letter, turns, context.now, context.mail_id, reported)
            waiting -= boards
        else:
            at_once.append(letter)
    outbox.add(context.connection, at_once, context.now, context.mail_id)


def _reports_in(letter: NewLetter) -> Iterator[int]:
    """The boards that the coach's reports and hints in a letter are about."""
    if kind_of(letter.letter).waits_for_coach and letter.board_id is not None:
        yield letter.board_id
    for line in letter.words.get("lines", ()) if letter.letter == "summary" else ():
        parts = (part for part in line["parts"] if kind_of(part["letter"]).waits_for_coach)
        yield from (part["board"] for part in parts)


def _boards_in(letter: NewLetter) -> Iterator[int]:
    """The boards that a letter shows to one of their players after a turn."""
    if letter.tray:
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
class Kept:
    """A letter that waits for a bot, and into which its move is to be written."""

    row: QueuedLetter

    def takes(self, told: Notification) -> bool:
        """Whether this news belongs into the letter."""
        part = told.part
        return (
            told.player_id == self.row.player_id
            and kind_of(part.letter).tells_turn
            and part.seat is not None
            and part.board in set(_boards_in(self.row))
        )

    def with_news(self, news: Part) -> NewLetter:
        """The letter with the bot's move in it; its Message-ID is the old one."""
        row = self.row
        if row.letter == "summary":
            return replace(row, words=_summary_with(row.words, news))
        old = Part(row.letter, said_again(row.words), row.board_id, row.ply, news.seat)
        new = _merged(old, news)
        return replace(row, letter=new.letter, words=new.words, ply=new.ply)


def _summary_with(words: Mapping[str, Any], news: Part) -> dict[str, Any]:
    """A summary in which the newest part about the board tells of the bot's move."""
    lines = [{**line, "parts": list(line["parts"])} for line in words["lines"]]
    for line in reversed(lines):
        for at in reversed(range(len(line["parts"]))):
            part = line["parts"][at]
            if part["board"] == news.board and kind_of(part["letter"]).waits_for_bot:
                said = said_again(part["words"])
                old = Part(part["letter"], said, part["board"], part["ply"], news.seat)
                new = _merged(old, news)
                changed = {"letter": new.letter, "words": dict(new.words), "ply": new.ply}
                line["parts"][at] = {**part, **changed}
                return {**words, "lines": lines}
    return {**words, "lines": lines}


def _merged(old: Part, news: Part) -> Part:
    """One part that tells of both: what its reader did, and what the bot did then."""
    if old.letter == "started" and news.letter == "board":
        return replace(old, ply=news.ply)  # where the atoms are hidden is all there is to tell
    event = old.words.get("event")
    ply = old.ply or 0
    after = old.words["after"] if event == "run" else ply - 1 if event == "moved" else ply
    words = {**old.words, **news.words, "event": "run", "after": after}
    for kept in ("said", "by", "said_to"):
        words[kept] = old.words.get(kept, "")
    return Part(news.letter, words, news.board, news.ply, news.seat)
