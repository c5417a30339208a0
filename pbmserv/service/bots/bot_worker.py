"""The thread that thinks for the bots, and the job that makes their moves.

The boards that wait for bots are rows of the database, so no move is lost if a process dies, and
several processes may think. A move is made under the lock of its board, and only if the board has
not changed since the bot began to think.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from math import ceil
from time import monotonic
from typing import Any, Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.engine.position import bot_move, played_out
from pbmserv.engine.protocol import coached
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import ServerFault
from pbmserv.monitoring.vitals import Vital, Watch
from pbmserv.service.boards import bot_turns, plies, queued_moves
from pbmserv.service.boards.bot_turns import Kept
from pbmserv.service.core.actor import BOT
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import NOTHING, Answer, Done
from pbmserv.service.core.said import UNSAID
from pbmserv.service.time.rounds import Rounds
from pbmserv.store import bots as rows
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.moves import Positions
from pbmserv.store.bots import ReportRequest
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE, Writer
from pbmserv.store.delivery import outbox

POLL_S = 5.0
"""Seconds between checks for boards that another process has left; our mails wake the thread."""

BATCH = 20
"""Boards that are read at a time."""

PUT_OFF = timedelta(hours=1)
"""Pause before a board on which thinking failed is tried again."""

TICK_S = 0.5
"""Moves are made a multiple of this many seconds after the bot began to think. Nearly every thought
takes less than one step, so its duration reveals nothing."""

SWITCH_S = 0.0002
"""Python's switch interval in seconds while a bot thinks, so that other threads wait less."""

log = logging.getLogger("pbmserv.service")


@dataclass(frozen=True, slots=True)
class Thought:
    """A move, and the number of plies of the board for which it was chosen."""

    plies: int
    seat: Seat
    move: Move


@dataclass(frozen=True, slots=True)
class _Ready:
    """A finished thought.

    Attributes:
        thought: `None` if there is nothing to do.
        at: earliest time of the move, by `time.monotonic`.
    """

    thought: Thought | None
    at: float


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


class BotWorker:
    """Thinks for every bot, in a thread (`start`, `stop`) or in the caller's (`run_once`).

    Args:
        moves: carries out the decisions.
        watch: shows the current board to the supervisor, and knows boards over which earlier
            processes were killed.
        tick_s: see `TICK_S`; 0 makes moves at once.
    """

    def __init__(
        self,
        positions: Positions,
        database: Database,
        clock: Clock,
        moves: Moves,
        watch: Watch,
        tick_s: float,
    ) -> None:
        self._tick_s = tick_s
        self._ready: dict[int, _Ready] = {}
        self._positions = positions
        self._database = database
        self._clock = clock
        self._moves = moves
        self._watch = watch
        self._set_aside: dict[int, int] = {}
        self._rounds = Rounds(
            self.run_once, "house", POLL_S, "the house could not look at its boards"
        )

    def start(self) -> None:
        """Begin to play, first on boards that an earlier process has left."""
        self._rounds.start()

    def stop(self, timeout: float) -> bool:
        """Finish the current move and end; return whether that took at most *timeout* seconds."""
        return self._rounds.stop(timeout)

    def vital(self) -> Vital:
        """Return the state of the thread."""
        return self._rounds.vital()

    def ask(self) -> None:
        """Wake the thread because a bot is to move."""
        self._rounds.ask()

    def run_once(self) -> None:
        """Make every due move of bots; make reports one by one while no move is due."""
        self._ready.clear()  # unfinished thoughts of an earlier round are repeated
        while not self._rounds.ending:
            with self._database.reading.connect() as connection:
                now = self._clock.now()
                waiting = rows.due(connection, now, BATCH)
                request = None if waiting else rows.next_request(connection, now)
            new = [board_id for board_id in waiting if board_id not in self._ready]
            for board_id in new:
                self._look(board_id)
                self._act()
            if self._ready and not new:
                first = min(ready.at for ready in self._ready.values())
                self._rounds.pause(first - monotonic())
                self._act()
            elif request is not None:
                self._report(request)
            elif not waiting:
                return

    def _act(self) -> None:
        """Make the moves whose time has come."""
        now = monotonic()
        for board_id in [board_id for board_id, ready in self._ready.items() if ready.at <= now]:
            with self._put_off_on_error(board_id):
                self._moves.act(board_id, self._ready.pop(board_id).thought)

    def _report(self, request: ReportRequest) -> None:
        """Make a report; if it cannot be made, its readers are told so."""
        self._rounds.beat()
        number = -request.board_id  # negative for `Watch`: positive numbers are moves
        words: Mapping[str, Any] = {}
        try:
            if number not in self._watch.killed_over():
                self._watch.at(number)
                with _short_switch_interval():
                    words = self._coach(request)
        except (ServerFault, *UNAVAILABLE):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one board must not stop the others
            _log_fault("the coach cannot work a report out", request.board_id, error)
        finally:
            self._watch.at(0)
        self._moves.keep_report(request, words)

    def _coach(self, request: ReportRequest) -> Mapping[str, Any]:
        with self._database.reading.connect() as connection:
            board = boards.load(connection, request.board_id)
            if board is None:
                return {}
            position = self._positions.newest(connection, board).at(request.ply)
        game: object = position.game
        seat = Seat(request.seat)
        if not coached(game):
            return {}
        if position.is_hint_of(seat):
            return game.hint(game.view(position.state, seat))
        return game.report(played_out(position), seat)

    def _look(self, board_id: int) -> None:
        """Choose a move on a board; the board stays due until the move is made."""
        if self._rounds.ending:
            return
        self._rounds.beat()
        times = self._watch.killed_over().get(board_id, 0)
        if times > self._set_aside.get(board_id, 0):  # an earlier process was killed
            self._set_aside[board_id] = times
            log.error("the house does not come back from a board", extra={"board": board_id})
            self._moves.put_off(board_id)
            return
        with self._put_off_on_error(board_id):
            begun = monotonic()
            self._watch.at(board_id)
            try:
                thought = self._think(board_id)
            finally:
                self._watch.at(0)
            self._ready[board_id] = _Ready(thought, self._moment(begun))

    def _moment(self, begun: float) -> float:
        """Return the earliest time of a move that was just chosen."""
        if not self._tick_s:
            return begun
        return begun + self._tick_s * ceil((monotonic() - begun) / self._tick_s)

    @contextmanager
    def _put_off_on_error(self, board_id: int) -> Iterator[None]:
        try:
            yield
        except (ServerFault, *UNAVAILABLE):
            raise  # not a fault of this board
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one board must not stop the others
            _log_fault("the house cannot move; it is put off", board_id, error)
            self._moves.put_off(board_id)

    def _think(self, board_id: int) -> Thought | None:
        """Return a move, `None` if no bot is to move; this needs no transaction."""
        with self._database.reading.connect() as connection:
            board = boards.load(connection, board_id)
            if board is None or board.status != "active":
                return None
            position = self._positions.newest(connection, board)
        seat = bot_turns.to_move(board, position)
        if seat is None:
            return None
        with _short_switch_interval():
            move = bot_move(position, seat, board.sitters[seat].userid)
        return Thought(board.plies, seat, move)


@contextmanager
def _short_switch_interval() -> Iterator[None]:
    """Let other threads interrupt a thought quickly, so that mails hardly wait."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _log_fault(what: str, board_id: int, error: BaseException) -> None:
    """Log a fault without its own text, which may contain secrets of the game."""
    where = "".join(traceback.format_tb(error.__traceback__))
    name = type(error).__name__
    log.error(what, extra={"board": board_id, "fault": name, "at": where})


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
        context = CommandContext(self._services, connection, BOT, self._clock.now())
        board = boards.lock(connection, board_id)
        waiting = rows.turn(connection, board_id)
        if board is None or waiting is None:  # another process was quicker
            return NOTHING
        kept = rows.waiting_letter(connection, waiting.letter_id)
        letters = False
        if thought is not None:
            if board.status != "active" or board.plies != thought.plies:
                return NOTHING
            answer = _move(context, board, thought)
            letters = _tell(context, answer, Kept(kept) if kept is not None else None)
            board = boards.lock(connection, board_id)
            assert board is not None
        elif (
            board.status == "active"
            and bot_turns.to_move(board, context.position(board)) is not None
        ):
            return NOTHING  # the turn of the bot began after the thought
        position = context.played.get(board_id) or context.position(board)
        if board.status != "active" or bot_turns.to_move(board, position) is None:
            rows.end_turn(connection, board_id)
            if kept is not None:
                letters |= rows.release(connection, kept.id, context.now)
        return Done(context.played, int(letters))

    def _put_off(self, board_id: int, connection: Connection) -> Done:
        """Postpone a board; letters do not wait for it any more."""
        now = self._clock.now()
        boards.lock(connection, board_id)
        waiting = rows.turn(connection, board_id)
        if waiting is None:
            return NOTHING
        rows.put_off(connection, board_id, now + PUT_OFF)
        letters = waiting.letter_id is not None and rows.release(connection, waiting.letter_id, now)
        return Done({}, int(letters))

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
        return Done({}, sum(released))


def _move(context: CommandContext, board: BoardRow, thought: Thought) -> Answer:
    sitter = board.sitters[thought.seat]
    position = context.position(board)
    answer = plies.play_move(context, board, sitter, position, thought.move, UNSAID)
    return queued_moves.go_on(context, answer)


def _tell(context: CommandContext, answer: Answer, kept: Kept | None) -> bool:
    """Queue notifications, or write them into the letter that waits.

    Returns:
        Whether any were queued.
    """
    letters: list[outbox.NewLetter] = []
    for notification in answer.notifications:
        if not notification.recipient:
            continue
        letter = outbox_row(context, notification)
        if kept is None or not kept.takes(notification):
            letters.append(letter)
            continue
        new = kept.with_news(notification.part)
        if new.letter in {"board", "result"}:
            new = replace(new, message_id=letter.message_id)
        rows.rewrite(context.connection, kept.row.id, new)
    outbox.add(context.connection, letters, context.now)
    return bool(letters)
