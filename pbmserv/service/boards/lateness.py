"""The players who were late when a game ended on time."""

from __future__ import annotations

from datetime import datetime, timedelta

from pbmserv.engine.clocks import counted_wait
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
    waits = {seat: _counted_wait(context, board, seat, ended_at) for seat in (loser, other)}
    return [loser, other] if waits[other] >= waits[loser] else [loser]


def _counted_wait(
    context: CommandContext, board: BoardRow, seat: Seat, ended_at: datetime
) -> timedelta:
    """Return the counted time for which a board waited for the first move of a seat."""
    since = board.created_at
    person = timekeeping.person_at(context, board, board.sitters[seat], since)
    server = timekeeping.server_of(context, board, since)
    return counted_wait(since, ended_at, board.terms, person, server)
