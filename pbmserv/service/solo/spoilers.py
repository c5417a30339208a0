"""Whether what is hidden on a board may be told, shown or copied: one answer for all commands.

A board shows each reader what that reader may know; here it is about everybody else, and about
boards with the same box. A copy names the board that its box was drawn for (`boards.origin`), so
that whatever keeps that one secret keeps every copy of it secret, however it was made.

Boxes are never compared. Whether a box that somebody names (``-id``, ``-seed``, a file) is the box
of another board is just what nobody shall find out by naming boxes until one is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import EPOCH
from pbmserv.store import solo
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables import RUNNING

Spoils: TypeAlias = Literal["", "daily-today", "daily-runs", "origin-runs", "box-chosen"]
"""Why a box may not be told; these are the codes of refusals. "" = it may."""


def spoils(context: CommandContext, board: BoardRow) -> Spoils:
    """Whom it would harm if somebody heard what is hidden on a board without playing it.

    The box of the day is kept from everybody until its day (UTC) is over and nobody who has got it
    still runs; a copy, until the board that it was made of is over; and a box that somebody chose
    until the day after its board has ended, since it may be that day's.
    """
    origin = board if board.origin is None else boards.load(context.connection, board.origin)
    assert origin is not None
    one = solo.daily_of_board(context.connection, origin.id) if origin.seats == 1 else None
    today = _day(context.now)
    if one is not None:
        if one.day == today:
            return "daily-today"
        return "daily-runs" if solo.still_run(context.connection, origin.game, one.day) else ""
    if board.origin is not None and origin.status in RUNNING:
        return "origin-runs"
    if not origin.comparable:
        ended = histories.ended_at(context.connection, origin.id)
        return "box-chosen" if ended is None or _day(ended) == today else ""
    return ""


def is_kept(context: CommandContext, board: BoardRow) -> bool:
    """Whether even one of its players may make no copy: somebody has still to solve the box.

    What somebody chose, the board's own players have been told in full when it ended.
    """
    return board.status in RUNNING or spoils(context, board) not in {"", "box-chosen"}


def must_not_spoil(context: CommandContext, board: BoardRow) -> None:
    """Refuse what would tell somebody a box that others have still to solve."""
    found = spoils(context, board)
    if found:
        raise Refused(found, part=str(board.id), example=f"{board.game} show {board.id}")


def must_allow_copy(context: CommandContext, board: BoardRow) -> None:
    """Refuse one of its players a copy of a box that anybody, that player too, has to solve."""
    if board.status in RUNNING:
        raise Refused("load-runs", part=str(board.id), example=f"{board.game} show {board.id}")
    if is_kept(context, board):
        must_not_spoil(context, board)


def origin_of(board: BoardRow) -> int:
    """What a copy of this board names as the board that its box was drawn for."""
    return board.id if board.origin is None else board.origin


def _day(moment: datetime) -> int:
    """The UTC day, counted from 1970."""
    return (moment.astimezone(UTC).date() - EPOCH).days
