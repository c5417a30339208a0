"""Coach's reports and hints: requests, and results of the bots' process for letters and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from pbmserv.commands.table.looking import Report
from pbmserv.engine.position import Position
from pbmserv.engine.protocol import coached
from pbmserv.engine.types import Seat
from pbmserv.errors import Refused
from pbmserv.service.core.budget import Work, squares_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_named_or_answered, own_sitter
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.secret_boxes import is_shut, refuse_spoiler
from pbmserv.store import bots as rows
from pbmserv.store.accounts import players
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.bots import ReportRequest
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus


def report(context: CommandContext, command: Report) -> Answer:
    """Answer ``game report board``.

    A player gets a report once the game is over for that player; others get it when the board is
    over and nobody has still to solve the box.

    Raises:
        Refused: the board is not over or was declined, or its game has no coach.
    """
    board = board_named_or_answered(context, command.board, command.game, "report")
    example = f"{board.game} show {board.id}"
    if board.status == BoardStatus.DECLINED:
        raise Refused("board-declined", part=str(board.id), example=example)
    position = context.position(board)
    game = position.game
    if not coached(game):
        raise Refused("no-report", part=game.info.title, example=example)
    sitter = own_sitter(context, board, command.credentials)
    seat = None if sitter is None else sitter.seat
    is_done = board.status == BoardStatus.FINISHED if seat is None else _is_done(position, seat)
    if not is_done:
        raise Refused("not-over", part=str(board.id), example=example)
    if seat is None or is_shut(context, board):
        refuse_spoiler(context, board)
    part = _requested(context, board, position, seat)
    _spend(context, position, len(part.words["seats"]) if part else 0)
    if part is None:
        raise Refused("nothing-to-report", part=str(board.id), example=example)
    return Answer((part,))


def _spend(context: CommandContext, position: Position, reports: int) -> None:
    """Take reports or hints from the budget. On large boards the coach takes longer."""
    size = 1 + squares_of(position.game, position.state) // 4
    context.budget.spend(Work.REPORT, reports * size)


def ask_hint(context: CommandContext, board: BoardRow, after: Position, seat: Seat) -> None:
    """Request a hint from the coach, unless there is one already.

    Args:
        after: the position after the ply by which the seat asked.
        seat: the seat that asked.
    """
    _spend(context, after, 1)
    if seat not in rows.finished_reports(context.connection, board.id, after.number):
        rows.request_report(
            context.connection,
            ReportRequest(board.id, after.number, seat),
            board.game,
            context.now,
        )
        context.effects.boards_for_coach.add(board.id)


def queue_wanted_reports(context: CommandContext, board: BoardRow, after: Position) -> None:
    """Queue a report of a finished board for each player who wants one of every board.

    A box of the day that stays shut has no report, which would open it.
    """
    if not coached(after.game) or is_shut(context, board):
        return
    for sitter in board.sitters:
        player = players.by_id(context.connection, sitter.player_id)
        if player is None or player.state != PlayerState.ACTIVE or player.report != "always":
            continue
        part = _requested(context, board, after, sitter.seat)
        if part is None or not sitter.address:
            continue
        letter = outbox_row(context, Notification.sitter(sitter, part))
        rows.queue_waiting_letter(
            context.connection, letter, (), context.now, context.mail_id, (board.id,)
        )


def _requested(
    context: CommandContext, board: BoardRow, position: Position, seat: Seat | None
) -> Part | None:
    """Request the reports for a reader, and return their part; ``None`` if there are none."""
    game = position.game
    assert coached(game)
    seats = game.reported_seats(position.state, seat)
    if not seats:
        return None
    results = rows.finished_reports(context.connection, board.id, position.number)
    for reported in seats:
        if reported not in results:
            request = ReportRequest(board.id, position.number, reported)
            rows.request_report(context.connection, request, board.game, context.now)
    if rows.is_report_due(context.connection, board.id):
        context.effects.boards_for_coach.add(board.id)
    words = {"seats": list(seats), "opened": True}
    return Part("report", words, board.id, position.number, seat)


def _is_done(position: Position, seat: Seat) -> bool:
    """Return whether this seat has finished, so that it may read the report on its play."""
    if position.outcome is not None:
        return True
    return position.apart and seat not in position.game.to_act(position.state)


@dataclass(frozen=True, slots=True)
class CoachPart:
    """The coach's part of a board's page.

    Attributes:
        reports: reports, that on the reader's play first; empty if nobody asked.
        is_due: whether the coach still works on a request of this seat.
        hint: the hint that the reader got last, if the reader has not moved since.
    """

    reports: tuple[Mapping[str, Any], ...] = ()
    is_due: bool = False
    hint: Mapping[str, Any] | None = None


def coach_part(
    connection: Connection, board: BoardRow, position: Position, seat: Seat
) -> CoachPart:
    """Return the coach's results for a seat."""
    game = position.game
    hint_position = position.hint_of(seat)
    if hint_position is None and not _is_done(position, seat):
        return CoachPart()
    hint = (
        rows.finished_reports(connection, board.id, hint_position.number).get(seat)
        if hint_position
        else None
    )
    if rows.is_report_due(connection, board.id):
        return CoachPart(is_due=True, hint=hint)
    if not coached(game) or not _is_done(position, seat):
        return CoachPart(hint=hint)
    results = rows.finished_reports(connection, board.id, position.number)
    reports = [
        results[reported]
        for reported in game.reported_seats(position.state, seat)
        if reported in results
    ]
    return CoachPart(tuple(reports), hint=hint)
