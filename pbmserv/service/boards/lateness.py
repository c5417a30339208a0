"""The players who were late when a game ended on time."""

from __future__ import annotations

from pbmserv.engine.types import Seat
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards.boards import BoardRow


def late_seats(context: CommandContext, board: BoardRow, loser: Seat) -> list[Seat]:
    """Return the seats that were late at a board of two that *loser* lost on time.

    If the other seat could have moved, too, and never has, both were late.
    """
    newest = context.position(board)
    moved = {past.ply.seat for past in newest.backwards() if past.ply is not None}
    start = newest.at(0)
    other = Seat(1 - loser)
    was_awaited = other not in moved and other in start.game.to_act(start.state)
    return [loser, other] if was_awaited else [loser]
