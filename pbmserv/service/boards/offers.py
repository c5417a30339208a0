"""Accept and reject: a challenge; on a board that is played, what the game lets players offer."""

from __future__ import annotations

from pbmserv.commands.table.model import Accept, Reject, Resign
from pbmserv.engine.types import Move
from pbmserv.errors import MoveError
from pbmserv.service.boards import invitations
from pbmserv.service.boards.moves import holds_move, play_move, reply_move, resign
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import CommandContext
from pbmserv.store.tables import BoardStatus


def accept(context: CommandContext, command: Accept) -> Answer:
    """``game accept board userid password``: a challenge, or what the opponent proposes."""
    return (
        _as_move(context, command, "accept")
        or _with_first_move(context, command)
        or invitations.accept(context, command)
    )


def reject(context: CommandContext, command: Reject) -> Answer:
    """``game reject board userid password``: a challenge, or what the opponent proposes."""
    return _as_move(context, command, "reject") or _drop_out(context, command)


def _drop_out(context: CommandContext, command: Reject) -> Answer:
    """Say no to a challenge; to a race only for oneself, and the others go on."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    if board.status == BoardStatus.PROPOSED and board.seats > 1 and context.position(board).apart:
        return resign(context, Resign(command.game, command.board, command.who))
    assert sitter.seat < board.seats
    return invitations.reject(context, command)


def _with_first_move(context: CommandContext, command: Accept) -> Answer | None:
    """The answer to the first move below "accept", which says yes as well; ``None`` without one."""
    if command.below is None:
        return None
    board, sitter = context.seat_at(None, None, None)
    waits = board.status == BoardStatus.PROPOSED and sitter.accepted_at is None
    return (
        reply_move(context, command.below) if waits and holds_move(context, command.below) else None
    )


def _as_move(context: CommandContext, command: Accept | Reject, word: str) -> Answer | None:
    """The answer to a move that is this word; ``None`` where it is no move now."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    if board.status != BoardStatus.ACTIVE:
        return None
    position = context.position(board)
    move: Move
    try:
        move = position.game.parse(position.game.view(position.state, sitter.seat), word)
    except MoveError:
        return None
    return play_move(context, board, sitter, position, move, context.words)
