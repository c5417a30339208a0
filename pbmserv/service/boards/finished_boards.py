"""Refuses commands for boards that are over or were declined."""

from __future__ import annotations

from pbmserv.engine.position import Position
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import RUNNING, BoardStatus


def refuse_finished_unless_practice(context: CommandContext, board: BoardRow) -> Position:
    """Refuse a command for a board that is over, except in practice, where the end is a step like
    any other."""
    position = context.position(board)
    if not (board.status == BoardStatus.FINISHED and position.is_practice):
        refuse_finished(context, board)
    return position


def refuse_finished(context: CommandContext, board: BoardRow) -> None:
    """Refuse a command for a board that is over."""
    if board.status not in RUNNING:
        raise board_over(context, board)


def board_over(context: CommandContext, board: BoardRow) -> Refused:
    """Return the refusal for a board that is over or was declined."""
    if board.status == BoardStatus.DECLINED:
        return Refused("board-declined", part=str(board.id))
    if context.position(board).is_practice:
        return Refused("practice-over", part=str(board.id), example="undo")
    return Refused("board-over", part=str(board.id), seats=board.seats)
