"""Words of a player to the others at a board, without a move."""

from __future__ import annotations

from collections.abc import Iterable

from pbmserv.commands.grammar.courtesies import is_praise
from pbmserv.commands.table.playing import Chat
from pbmserv.errors import Refused
from pbmserv.service.boards import bot_turns
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said
from pbmserv.service.core.words_for_others import no_words, words_for_others
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus


def chat(context: CommandContext, command: Chat) -> Answer:
    """Send words to the others at a board, without a move."""
    board, sitter = context.seat_of(command)
    return say(context, board, sitter, words_for_others(context))


def say(context: CommandContext, board: BoardRow, sitter: Sitter, words: Said) -> Answer:
    """Pass *words* on to the others at the board who get letters."""
    bot_turns.refuse_chat_without_listeners(board, sitter)
    if not words:
        raise no_words(context, "chat")
    others = board.readers_beside(sitter.player_id)
    if not others:
        names = [other.userid for other in board.people_beside(sitter.player_id)]
        raise Refused("nobody-reads", part=" and ".join(names), example="show")
    sent = {
        "to": [s.userid for s in others],
        "unreachable": [s.userid for s in others if s.unreachable_since],
        "said": words,
    }
    return Answer(
        (Part("chat-sent", sent, board.id, board.plies, sitter.seat),),
        words_to(others, board, sitter, words),
    )


def words_to(
    readers: Iterable[Sitter], board: BoardRow, sitter: Sitter, words: Said
) -> tuple[Notification, ...]:
    """Return the letters that bring a player's words to others at a board."""
    undecided = board.undecided if board.status == BoardStatus.PROPOSED else ()
    letter_words = {"by": sitter.userid, "said": words, "undecided": list(undecided)}
    return tuple(
        Notification.sitter(s, Part("chat", letter_words, board.id, board.plies, s.seat))
        for s in readers
    )


def is_heard_praise(context: CommandContext, words: str) -> bool:
    """Return whether words at the answered letter's board are kind, and a person reads them."""
    board, sitter = context.seat_at()
    return bool(board.readers_beside(sitter.player_id)) and is_praise(words)
