"""The players who were late when a game ended on time."""

from __future__ import annotations

from pbmserv.engine.types import Seat
from pbmserv.service.core.context import CommandContext
from pbmserv.service.time import timekeeping
from pbmserv.store.boards import histories
from pbmserv.store.boards.boards import BoardRow


def late_seats(context: CommandContext, board: BoardRow, loser: Seat) -> list[Seat]:
    """Return the seats that were late at a board of two that *loser* lost on time.

    If the other seat could have moved, too, and never has, both were late, unless that player was
    away and had time left.

    Args:
        board: a board that is over, or ends now.
    """
    newest = context.position(board)
    moved = {past.ply.seat for past in newest.backwards() if past.ply is not None}
    start = newest.at(0)
    other = Seat(1 - loser)
    if other in moved or other not in start.game.to_act(start.state):
        return [loser]
    ended_at = histories.ended_at(context.connection, board.id) or context.now
    of_loser, of_other = (
        timekeeping.waited(context, board, board.sitters[seat], board.created_at, ended_at)
        for seat in (loser, other)
    )
    return [loser, other] if of_other >= of_loser else [loser]
