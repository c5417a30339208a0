"""Bots in a transaction: which boards they may play, when they move, how letters wait for them.

A bot may think for long, so its move is not made in the transaction that makes it the bot's turn.
That transaction adds a row, and holds back the letter to the player who moved. `bot_worker` thinks
outside of the writer and makes the move; then the letter goes out with both moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.registry import AnyGame, check_agreement
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
"""Most running boards of one player with each bot."""


def is_bot(player: Player | Sitter) -> bool:
    """Return whether a player is a bot."""
    return player.state == PlayerState.BOT


def invited(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: Sequence[str],
) -> Player:
    """Return the bot of this userid, for a board with these options and players.

    Raises:
        Refused: bots do not play this game.
        OptionError: bots do not play with these options.
    """
    if userid not in game.bots:
        levels = ", ".join(game.bots)
        raise Refused("house-plays-not", part=userid, title=game.info.title, levels=levels)
    try:
        check_agreement(game, userid, options, len(userids))
    except OptionError as error:
        refusal = error.refusal
        line = (game.info.key, "challenge", *userids, refusal.example)
        example = " ".join(filter(None, line))
        raise OptionError(
            refusal.code, part=refusal.part, example=example, **refusal.values
        ) from error
    return rows.account(context.connection, userid, context.now)


def rates(game: AnyGame, sitting: Sequence[Player | Sitter]) -> bool:
    """Return whether a board can change ratings: of people alone, or of one and a rated bot."""
    bots = [player for player in sitting if is_bot(player)]
    if not bots:
        return True
    return len(bots) == 1 and len(sitting) == 2 and bots[0].userid in game.info.strength


def refuse_too_many_bot_boards(
    context: CommandContext, sender: Player, others: Sequence[Player]
) -> None:
    """Refuse one board too many with a bot."""
    for opponent in others:
        if (
            is_bot(opponent)
            and challenges.running_between(context.connection, sender.id, opponent.id) >= MOST
        ):
            example = f"games {sender.userid}"
            raise Refused("many-with-house", part=opponent.userid, most=MOST, example=example)


def refuse_chat_without_listeners(board: BoardRow, sitter: Sitter) -> None:
    """Refuse chat at a board where no other person sits."""
    others = [other for other in board.sitters if other.player_id != sitter.player_id]
    if not others:
        raise Refused("nobody-there", part="chat", example="show")
    if all(map(is_bot, others)):
        raise Refused("house-deaf", part=others[0].userid, example="show")


def to_move(board: BoardRow, position: Position) -> Seat | None:
    """Return the first seat of a bot that may use a turn, `None` if there is none."""
    return min(board.bots & position.game.to_act(position.state), default=None)


def take_note(context: CommandContext, board: BoardRow, position: Position) -> None:
    """Note after a ply, or at the start of a board, that a bot is to move."""
    if to_move(board, position) is None:
        return
    if rows.begin_turn(context.connection, board.id, board.game, context.now):
        context.effects.bot_turns.append((board.id, not position.apart))


def queue(context: CommandContext, letters: Sequence[NewLetter]) -> None:
    """Queue the letters of a mail; those that wait for a bot or a report are held back.

    Only the letter to the player who has just moved waits for a bot, since it will show the bot's
    move. On boards where nobody sees the moves of others (races), nothing waits.
    """
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
class Kept:
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
    """Return a summary whose newest part about the board shows the bot's move."""
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
