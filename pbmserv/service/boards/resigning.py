"""``resign``: gives up a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.table.playing import Resign
from pbmserv.engine.position import Position
from pbmserv.service.boards.board_ends import decline
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.said import Said
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus


def goes_on_without(board: BoardRow, position: Position) -> bool:
    """Return whether a board goes on if a player leaves it who may not have moved yet."""
    return board.seats > 2 and board.status == BoardStatus.ACTIVE and bool(position.moved())


def _race_goes_on(others: Sequence[Sitter], position: Position) -> bool:
    """Return whether a board is a race that goes on with the others if a player leaves it.

    One player does not race alone, except to end a race that somebody has begun.
    """
    still_racing = position.game.to_act(position.state) & {other.seat for other in others}
    has_begun = any(other.seat in position.moved() for other in others)
    return position.apart and (len(still_racing) > 1 or has_begun)


def resign(context: CommandContext, command: Resign) -> Answer:
    """``game resign board userid password``: give up a game."""
    board, sitter = context.seat_of(command)
    refuse_finished(context, board)
    return give_up(context, board, sitter)


def give_up(context: CommandContext, board: BoardRow, sitter: Sitter) -> Answer:
    """Give up a game, or reject it.

    A board that not all players have accepted, or on which this player has not moved, is declined
    instead and counts for nothing. Boards of an event are lost from the beginning on. In a race
    that others have accepted, they go on (see `_race_goes_on`), and so do the others of three or
    more who have begun. A player who has not accepted that race declines it.
    """
    position = context.position(board)
    others = [other for other in board.sitters if other is not sitter]
    is_taken_up = board.status == BoardStatus.ACTIVE or any(other.accepted_at for other in others)
    others_go_on = is_taken_up and _race_goes_on(others, position)
    is_bound = board.of_event or sitter.seat in position.moved() or goes_on_without(board, position)
    if not others_go_on and (not is_bound or board.status == BoardStatus.PROPOSED):
        return decline(context, board, sitter)
    words = words_for_others(context)
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        return _decline_race(context, board, sitter, position.decline(sitter.seat), words)
    return log_ply(context, board, sitter, position.withdraw(sitter.seat), words)


def _decline_race(
    context: CommandContext, board: BoardRow, sitter: Sitter, after: Position, words: Said
) -> Answer:
    """Log that a player declines a race, in which the others go on.

    The player's own letter shows no board, unless the race is over.
    """
    answer = log_ply(context, board, sitter, after, words)
    if after.outcome is not None:
        return answer
    part = Part(
        "declined", {"by": sitter.userid, "race": True}, board.id, after.number, sitter.seat
    )
    return replace(answer, parts=(part,))
