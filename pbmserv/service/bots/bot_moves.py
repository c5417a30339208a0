"""Makes the moves that bots have chosen, and stores the reports of the coach; in play.

A move is made under the lock of its board, and only if the board has not changed since the bot
began to think.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.engine.types import Move, Seat
from pbmserv.service.boards import bot_turns, held_letters, plan_runs, plies
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.job_result import NOTHING, Done
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.said import UNSAID
from pbmserv.service.core.services import Services
from pbmserv.store import bots as rows
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.bots import ReportRequest
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.boards import BoardStatus

PUT_OFF = timedelta(hours=1)
"""Pause before a board on which thinking failed is tried again."""


@dataclass(frozen=True, slots=True)
class Thought:
    """A move, and the number of plies of the board for which it was chosen."""

    plies: int
    seat: Seat
    move: Move


class Moves(Protocol):
    """Carries out decisions of bots, in the process that changes games."""

    def act(self, board_id: int, thought: Thought | None) -> None:
        """Make the move if it still fits; if the board has changed, it stays due."""
        ...

    def put_off(self, board_id: int) -> None:
        """Postpone a board; letters do not wait for it any more."""
        ...

    def keep_report(self, request: ReportRequest, words: Mapping[str, Any]) -> None:
        """Store a report (empty if it cannot be made), and send letters that wait for it."""
        ...


class BotMoves:
    """Makes the moves of bots, through the writer.

    Args:
        wake: called after a commit that queued letters.
    """

    def __init__(
        self, services: Services, writer: Writer, clock: Clock, wake: Callable[[], None]
    ) -> None:
        self._services = services
        self._writer = writer
        self._clock = clock
        self._wake = wake

    def act(self, board_id: int, thought: Thought | None) -> None:
        """Make a move, see `Moves.act`."""
        self._finish(partial(self._act, board_id, thought))

    def put_off(self, board_id: int) -> None:
        """Postpone a board, see `Moves.put_off`."""
        self._finish(partial(self._put_off, board_id))

    def keep_report(self, request: ReportRequest, words: Mapping[str, Any]) -> None:
        """Store a report, see `Moves.keep_report`."""
        self._finish(partial(self._keep_report, request, words))

    def _finish(self, job: Callable[[Connection], Done]) -> None:
        done = self._writer.submit(job).result()
        self._services.positions.remember(done.played)
        if done.letters:
            self._wake()

    # -- jobs: run by the writer, inside its transaction ---------------------------------

    def _act(self, board_id: int, thought: Thought | None, connection: Connection) -> Done:
        """Make the move if it still fits; if the board has changed, it stays due."""
        context = CommandContext(self._services, connection, NOBODY, self._clock.now())
        board = boards.lock(connection, board_id)
        waiting = rows.turn(connection, board_id)
        if board is None or waiting is None:  # another process was quicker
            return NOTHING
        kept = rows.waiting_letter(connection, waiting.letter_id)
        letters = False
        if thought is not None:
            if board.status != BoardStatus.ACTIVE or board.plies != thought.plies:
                return NOTHING
            answer = _move(context, board, thought)
            letters = _tell(context, answer, kept)
            board = boards.lock(connection, board_id)
            assert board is not None
        elif (
            board.status == BoardStatus.ACTIVE
            and bot_turns.to_move(board, context.position(board)) is not None
        ):
            return NOTHING  # the turn of the bot began after the thought
        position = context.position(board)
        if board.status != BoardStatus.ACTIVE or bot_turns.to_move(board, position) is None:
            rows.end_turn(connection, board_id)
            if kept is not None:
                letters |= rows.release(connection, kept.id, context.now)
        return Done(context.effects.positions, int(letters))

    def _put_off(self, board_id: int, connection: Connection) -> Done:
        """Postpone a board; letters do not wait for it any more."""
        now = self._clock.now()
        boards.lock(connection, board_id)
        waiting = rows.turn(connection, board_id)
        if waiting is None:
            return NOTHING
        rows.put_off(connection, board_id, now + PUT_OFF)
        letters = waiting.letter_id is not None and rows.release(connection, waiting.letter_id, now)
        return Done(letters=int(letters))

    def _keep_report(
        self, request: ReportRequest, words: Mapping[str, Any], connection: Connection
    ) -> Done:
        boards.lock(connection, request.board_id)
        rows.keep_report(connection, request, words)
        if rows.is_report_due(connection, request.board_id):
            return NOTHING
        now = self._clock.now()
        waiting = rows.take_waiting_letters(connection, request.board_id)
        released = [rows.release(connection, letter_id, now) for letter_id in waiting]
        return Done(letters=sum(released))


def _move(context: CommandContext, board: BoardRow, thought: Thought) -> Answer:
    mover = mover_at(context, board, board.sitters[thought.seat])
    answer = plies.play_move(context, mover, thought.move, UNSAID)
    return plan_runs.play_queued_moves(context, answer)


def _tell(context: CommandContext, answer: Answer, held: outbox.QueuedLetter | None) -> bool:
    """Queue notifications, or write them into the letter that waits.

    Returns:
        Whether any were queued.
    """
    letters: list[outbox.NewLetter] = []
    for notification in answer.notifications:
        if not notification.recipient:
            continue
        letter = outbox_row(context, notification)
        if held is None or not held_letters.takes(held, notification):
            letters.append(letter)
            continue
        new = held_letters.with_news(held, notification.part)
        if new.letter in {"board", "result"}:
            new = replace(new, message_id=letter.message_id)
        rows.rewrite(context.connection, held.id, new)
    outbox.add(context.connection, letters, context.now)
    return bool(letters)
