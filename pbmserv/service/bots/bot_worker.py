"""The thread that thinks for the bots, and works out reports and hints of the coach.

The boards that wait for bots are rows of the database, so no move is lost if a process dies, and
several processes may think. `bot_moves` makes the moves, in play.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any

from pbmserv.clock import Clock
from pbmserv.engine.position import bot_move, played_out
from pbmserv.engine.protocol import coached
from pbmserv.engine.types import Seat
from pbmserv.errors import GameAway, ServerFault
from pbmserv.monitoring.vitals import Watch
from pbmserv.service.boards import bot_turns
from pbmserv.service.bots.bot_moves import Moves, Thought
from pbmserv.service.rounds import Rounds
from pbmserv.store import bots as rows
from pbmserv.store.boards import boards
from pbmserv.store.boards.positions import Positions
from pbmserv.store.bots import ReportRequest
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.tables.boards import BoardStatus

POLL_S = 5.0
"""Seconds between checks for boards that another process has left; our mails wake the thread."""

BATCH = 20
"""Boards that are read at a time."""

TICK_S = 0.5
"""Moves are made a multiple of this many seconds after the bot began to think. Nearly every thought
takes less than one step, so its duration reveals nothing."""

log = logging.getLogger("pbmserv.service")


@dataclass(frozen=True, slots=True)
class _Ready:
    """A finished thought.

    Attributes:
        thought: `None` if there is nothing to do.
        at: earliest time of the move, by `time.monotonic`.
    """

    thought: Thought | None
    at: float


class BotWorker(Rounds):
    """Thinks for every bot, in a thread (`start`, `stop`) or in the caller's (`run_once`).

    Args:
        moves: carries out the decisions.
        watch: shows the current board to the supervisor, and knows boards over which earlier
            processes were killed.
        tick_s: see `TICK_S`; 0 makes moves at once.
        games: the keys of its games; other processes think for the others.
    """

    def __init__(
        self,
        positions: Positions,
        database: Database,
        clock: Clock,
        moves: Moves,
        watch: Watch,
        tick_s: float,
        games: Collection[str],
    ) -> None:
        self._games = sorted(games)
        self.tick_s = tick_s
        self._ready: dict[int, _Ready] = {}
        self._positions = positions
        self._database = database
        self._clock = clock
        self._moves = moves
        self._watch = watch
        self._set_aside: dict[int, int] = {}
        super().__init__(self.run_once, "house", POLL_S, "the house could not look at its boards")

    def run_once(self) -> None:
        """Make every due move of bots; make reports one by one while no move is due."""
        self._ready.clear()  # unfinished thoughts of an earlier round are repeated
        while not self.ending:
            with self._database.reading.connect() as connection:
                now = self._clock.now()
                waiting = rows.due(connection, now, BATCH, self._games)
                request = None if waiting else rows.next_request(connection, now, self._games)
            new = [board_id for board_id in waiting if board_id not in self._ready]
            for board_id in new:
                self._think_about(board_id)
                self._act()
            if self._ready and not new:
                first = min(ready.at for ready in self._ready.values())
                self.pause(first - monotonic())
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
        self.beat()
        number = -request.board_id  # negative for `Watch`: positive numbers are moves
        words: Mapping[str, Any] = {}
        try:
            if number not in self._watch.killed_over():
                with self._watch.doing(number):
                    words = self._coach(request)
        except GameAway:
            pass
        except (ServerFault, *UNAVAILABLE):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one board must not stop the others
            _log_fault("the coach cannot work a report out", request.board_id, error)
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

    def _think_about(self, board_id: int) -> None:
        """Choose a move on a board; the board stays due until the move is made."""
        if self.ending:
            return
        self.beat()
        times = self._watch.killed_over().get(board_id, 0)
        if times > self._set_aside.get(board_id, 0):  # an earlier process was killed
            self._set_aside[board_id] = times
            log.error("the house does not come back from a board", extra={"board": board_id})
            self._moves.put_off(board_id)
            return
        with self._put_off_on_error(board_id):
            begun = monotonic()
            with self._watch.doing(board_id):
                thought = self._think(board_id)
            self._ready[board_id] = _Ready(thought, self._moment(begun))

    def _moment(self, begun: float) -> float:
        """Return the earliest time of a move that was just chosen."""
        if not self.tick_s:
            return begun
        return begun + self.tick_s * ceil((monotonic() - begun) / self.tick_s)

    @contextmanager
    def _put_off_on_error(self, board_id: int) -> Iterator[None]:
        try:
            yield
        except GameAway:
            self._moves.put_off(board_id)
        except (ServerFault, *UNAVAILABLE):
            raise  # not a fault of this board
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one board must not stop the others
            _log_fault("the house cannot move; it is put off", board_id, error)
            self._moves.put_off(board_id)

    def _think(self, board_id: int) -> Thought | None:
        """Return a move, `None` if no bot is to move; this needs no transaction."""
        with self._database.reading.connect() as connection:
            board = boards.load(connection, board_id)
            if board is None or board.status != BoardStatus.ACTIVE:
                return None
            position = self._positions.newest(connection, board)
        seat = bot_turns.to_move(board, position)
        if seat is None:
            return None
        move = bot_move(position, seat, board.sitters[seat].userid)
        return Thought(board.plies, seat, move)


def _log_fault(message: str, board_id: int, error: BaseException) -> None:
    """Log a fault without its own text, which may contain secrets of the game."""
    where = "".join(traceback.format_tb(error.__traceback__))
    name = type(error).__name__
    log.error(message, extra={"board": board_id, "fault": name, "at": where})
