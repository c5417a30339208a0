"""Decides if a board must stay hidden, because a player has still to solve the same box.

A board shows its players what they may know; a spoiler concerns all other readers. A copy names the
board that its box was drawn for (`boards.origin`), so a secret of that board is a secret of every
copy.

Boxes are never compared. Otherwise a player could name boxes (``-id``, ``-seed``, a file) until one
is refused, and would know the box of another board.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

from sqlalchemy import Connection

from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.shared_boxes import shared_boxes
from pbmserv.store.shared_boxes.day_numbers import EPOCH
from pbmserv.store.shared_boxes.shared_boxes import SharedBoard
from pbmserv.store.tables.boards import RUNNING

Spoils: TypeAlias = Literal[
    "",
    "daily-today",
    "daily-runs",
    "event-box-runs",
    "event-game-runs",
    "origin-runs",
    "box-chosen",
]
"""The reason why a box must stay hidden, as the code of a refusal; "" if there is none."""


def spoils(connection: Connection, now: datetime, board: BoardRow) -> Spoils:
    """Return why a board must stay hidden from people who do not play it; "" if it need not.

    A box or game that several players get is hidden until all have finished it, and the box of the
    day also until its day (UTC) is over; a copy, until the board that it was made from is over; a
    box that a player chose, until the day after the board ended, since it may be that day's box.
    """
    origin = board if board.origin is None else boards.load(connection, board.origin)
    assert origin is not None
    shared = shared_board(connection, origin)
    today = _day(now)
    if shared is not None:
        if shared.day == today:
            return "daily-today"
        if not shared_boxes.is_played(connection, shared.box_id):
            return ""
        if shared.day is not None:
            return "daily-runs"
        return "event-game-runs" if origin.bots else "event-box-runs"
    if board.origin is not None and origin.status in RUNNING:
        return "origin-runs"
    if not origin.comparable:
        ended = histories.ended_at(connection, origin.id)
        return "box-chosen" if ended is None or _day(ended) == today else ""
    return ""


def is_shut(connection: Connection, now: datetime, board: BoardRow) -> bool:
    """Return whether a shared box stays hidden even from its own player, who did not solve it.

    A player who gave up could otherwise play it under another name, or tell a friend. Dice and
    deals are never solved: the seed of such a board tells all of them.
    """
    shared = shared_board(connection, board)
    return shared is not None and not shared.solved and bool(spoils(connection, now, board))


def shared_board(connection: Connection, board: BoardRow) -> SharedBoard | None:
    """Return the player's row of the shared box of a board, `None` if it has none."""
    return shared_boxes.of_board(connection, board.id) if board.may_be_shared else None


def _day(moment: datetime) -> int:
    """Return the UTC day of a moment, counted from 1970."""
    return (moment.astimezone(UTC).date() - EPOCH).days
