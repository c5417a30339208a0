"""``undo``: takes the last move back, as long as nobody has read about it."""

from __future__ import annotations

from pbmserv.commands.table.playing import Undo
from pbmserv.engine.position import Position
from pbmserv.errors import Illegal, Refused
from pbmserv.service.boards.finished_boards import refuse_finished_unless_practice
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.boards import followers
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import unsent_letters


def undo(context: CommandContext, command: Undo) -> Answer:
    """``game undo board userid password``: take back the player's last move.

    It must be the last move of the board, must not have shown anything hidden, and no letter about
    it may have been sent to others. Waiting letters are dropped, except words of players in them.

    Raises:
        Refused: the move cannot be taken back.
    """
    board, sitter = context.seat_of(command)
    position = refuse_finished_unless_practice(context, board)
    try:
        before = position.undoable(sitter.seat)
    except Illegal as error:
        raise Refused(error.refusal.code, part="undo", example="show") from error
    if not (position.is_practice or position.apart):  # no other player is told of these moves
        _drop_news(context, board, sitter, position, before.number)
    answer = log_ply(context, board, sitter, position.undo(sitter.seat), words_for_others(context))
    context.current.moved.clear()  # plans are for later turns, not for a turn that is given back
    return answer


def _drop_news(
    context: CommandContext, board: BoardRow, sitter: Sitter, position: Position, before: int
) -> None:
    """Drop the waiting letters to others about a move that is taken back.

    Raises:
        Refused: one of the letters is on its way.
    """
    letters = [
        letter
        for letter in unsent_letters.about(context.connection, board.id, before)
        if letter.player_id != sitter.player_id
    ]
    readers: set[int | None] = set()
    if any(p.ply is not None and not p.ply.free for p in position.after(before)):
        readers = {s.player_id for s in board.sitters if s.accepted_at is not None}
        readers |= {
            f.player_id for f in followers.of_board(context.connection, board.id) if f.what == "all"
        }
        readers.discard(sitter.player_id)
    if any(letter.begun for letter in letters) or readers - {
        letter.player_id for letter in letters
    }:
        view = position.game.view(position.state, sitter.seat)
        may_ask = getattr(view, "may_take_back", False)
        example = "takeback" if may_ask else "show"
        raise Refused("undo-seen", part="undo", may_ask=may_ask, example=example)
    unsent_letters.drop(context.connection, letters)
