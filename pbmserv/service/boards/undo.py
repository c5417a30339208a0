"""Taking a move back, as long as nobody has learnt anything from it."""

from __future__ import annotations

from pbmserv.commands.table.model import Undo
from pbmserv.engine.referee import Position
from pbmserv.errors import Illegal, Refused
from pbmserv.service.boards.invitations import must_run
from pbmserv.service.boards.moves import log_ply
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import kept_letters


def undo(context: CommandContext, command: Undo) -> Answer:
    """``game undo board userid password``: the board is as it was before one's last move.

    It must be the board's last move, must have told nobody anything hidden, and nobody else may
    have been sent a letter about it. Letters that still wait are dropped, but not the words of
    people in them.

    Raises:
        Refused: why it cannot be taken back.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    try:
        before = position.undoable(sitter.seat)
    except Illegal as error:
        raise Refused(error.refusal.code, part="undo", example="show") from error
    _drop_news(context, board, sitter, position, before.number)
    answer = log_ply(context, board, sitter, position.undo(sitter.seat), context.words)
    context.moved.clear()  # a plan is for turns that come, not for those that are given back
    return answer


def _drop_news(
    context: CommandContext, board: BoardRow, sitter: Sitter, position: Position, before: int
) -> None:
    """Drop the letters to others about what is taken back, if none of them is on its way."""
    letters = [
        letter
        for letter in kept_letters.unsent_about(context.connection, board.id, before, context.now)
        if letter.player_id != sitter.player_id
    ]
    told: set[int | None] = set()
    if any(p.ply is not None and not p.ply.free for p in position.after(before)):
        told = {s.player_id for s in board.sitters if s.accepted_at is not None}
        told |= {
            f.player_id
            for f in boards.followers_of(context.connection, board.id)
            if f.what == "all"
        }
        told.discard(sitter.player_id)
    if any(letter.begun for letter in letters) or told - {one.player_id for one in letters}:
        raise Refused("undo-seen", part="undo", example="show")
    kept_letters.drop_unsent(context.connection, letters)
