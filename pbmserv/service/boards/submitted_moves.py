"""Submitted moves: shown to their player, and played on ``confirm`` or a yes."""

from __future__ import annotations

from pbmserv.commands.table.playing import ConfirmMove, Submit
from pbmserv.errors import MoveError, Refused
from pbmserv.service.boards import far_labels
from pbmserv.service.boards.first_draws import refuse_before_draw
from pbmserv.service.boards.mover import running_mover
from pbmserv.service.boards.moves import read_move, refuse_late_move
from pbmserv.service.boards.plies import play_move
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.boards import moves
from pbmserv.store.boards.boards import BoardRow, Sitter


def submit(context: CommandContext, command: Submit) -> Answer:
    """``game submit board userid password move``: show a move, and play it on ``confirm``."""
    mover = running_mover(context, command)
    refuse_before_draw(mover)
    refuse_late_move(context, mover, command.number, [command.text])
    try:
        move = read_move(mover, command.text)
    except MoveError as error:
        example = error.refusal.example
        raise error.offering(example and f"submit {example}") from error
    cells = far_labels.doubtful_cells(context, mover, command.text)
    return far_labels.submit_move(context, mover, move, command.text, cells)


def confirm(context: CommandContext, command: ConfirmMove) -> Answer:
    """``game confirm board userid password``: play the submitted move if the board has not
    changed."""
    mover = running_mover(context, command)
    board, turn = mover.board, mover.turn
    waiting = moves.submitted(context.connection, board.id, mover.seat)
    if waiting is None:
        raise Refused("nothing-submitted", part=str(board.id))
    meant, text = waiting
    if meant != turn or context.answered_turn(board.id) not in {None, turn}:
        again = f"submit {text}"
        raise Refused("submitted-stale", part=text, meant=meant, turn=turn, example=again)
    moves.drop_submitted(context.connection, board.id, mover.seat)
    move = read_move(mover, text)
    far_labels.note_far_labels(context, mover, text)
    return play_move(context, mover, move, words_for_others(context))


def may_confirm(context: CommandContext, board: BoardRow, sitter: Sitter) -> bool:
    """Return whether a ``yes`` can mean the submitted move: there is one for the letter's turn."""
    waiting = moves.submitted(context.connection, board.id, sitter.seat)
    return waiting is not None and waiting[0] == context.answered_turn(board.id)
