"""Rows of moves, plans and submitted moves, and positions replayed from them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.engine.clocks import to_json
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.errors import GameAway
from pbmserv.store.boards import game_pauses
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.clocks import Times
from pbmserv.store.core.statements import Prepared
from pbmserv.store.tables import boards
from pbmserv.store.tables.boards import plies, seats, submitted_moves

_PLIES = Prepared(
    select(plies.c.number, plies.c.seat, plies.c.text, plies.c.free, plies.c.mark)
    .where(plies.c.board_id == bindparam("board"), plies.c.number > bindparam("after"))
    .order_by(plies.c.number)
)
_ADD_PLY = Prepared(
    insert(plies), ("board_id", "number", "seat", "text", "free", "mail_id", "created_at", "mark")
)
_PLAYED = Prepared(
    update(boards)
    .where(boards.c.id == bindparam("board"))
    .values(plies=bindparam("number"), clocks=bindparam("clocks"), due_at=bindparam("due"))
)
_PLANS = Prepared(
    select(seats.c.seat, seats.c.plan)
    .where(seats.c.board_id == bindparam("board"), seats.c.plan.is_not(None))
    .order_by(seats.c.seat)
)
_SUBMITTED = select(submitted_moves.c.turn, submitted_moves.c.text).where(
    submitted_moves.c.board_id == bindparam("board"),
    submitted_moves.c.seat == bindparam("at"),
)


def record(connection: Connection, board_id: int, after: int = 0) -> list[Ply]:
    """Return the moves of a board after ply *after*."""
    rows = _PLIES.run(connection, {"board": board_id, "after": after})
    return [Ply(row[0], Seat(row[1]), row[2], row[3], row[4] or "") for row in rows]


def log(
    connection: Connection,
    board_id: int,
    added: Iterable[Ply],
    mail_id: int | None,
    now: datetime,
) -> None:
    """Add moves to a board's record without counting them; `append` counts."""
    rows = [
        {
            "board_id": board_id,
            "number": ply.number,
            "seat": ply.seat,
            "text": ply.text,
            "free": ply.free,
            "mail_id": mail_id,
            "created_at": now,
            "mark": ply.mark or None,
        }
        for ply in added
    ]
    if rows:
        _ADD_PLY.run(connection, *rows)


def append(
    connection: Connection,
    board_id: int,
    ply: Ply,
    mail_id: int | None,
    now: datetime,
    times: Times,
) -> None:
    """Add a move and count it; *times* are the clocks after it."""
    log(connection, board_id, (ply,), mail_id, now)
    _PLAYED.run(
        connection,
        {
            "board": board_id,
            "number": ply.number,
            "clocks": to_json(times.clocks),
            "due": times.due_at,
        },
    )


def plans(connection: Connection, board_id: int) -> dict[Seat, str]:
    """Return the canonical plans of a board by seat."""
    rows = _PLANS.run(connection, {"board": board_id})
    return {Seat(seat): plan for seat, plan in rows}


def keep_plan(connection: Connection, board_id: int, seat: Seat, plan: str | None) -> None:
    """Replace a seat's plan; `None` removes it."""
    is_seat = (seats.c.board_id == board_id) & (seats.c.seat == seat)
    connection.execute(update(seats).where(is_seat).values(plan=plan))


def drop_plans(connection: Connection, board_id: int) -> None:
    """Delete every plan of a board."""
    connection.execute(update(seats).where(seats.c.board_id == board_id).values(plan=None))


def submitted(connection: Connection, board_id: int, seat: Seat) -> tuple[int, str] | None:
    """Return turn and text of the move that waits for its player's ``confirm``."""
    row = connection.execute(_SUBMITTED, {"board": board_id, "at": seat}).first()
    return None if row is None else (row.turn, row.text)


def submit(
    connection: Connection, board_id: int, seat: Seat, turn: int, text: str, now: datetime
) -> None:
    """Store a submitted move in place of an earlier one."""
    drop_submitted(connection, board_id, seat)
    connection.execute(
        insert(submitted_moves).values(
            board_id=board_id, seat=seat, turn=turn, text=text, created_at=now
        )
    )


def drop_submitted(connection: Connection, board_id: int, seat: Seat) -> None:
    """Delete a seat's submitted move."""
    connection.execute(
        delete(submitted_moves).where(
            submitted_moves.c.board_id == board_id, submitted_moves.c.seat == seat
        )
    )


PAUSES_FRESH_S = 1.0
"""Seconds for which the list of stopped games is used again."""
REMEMBERED_PLIES = 4_000
"""Plies of all cached positions, about 1.3 kB each. A board that is not cached is replayed."""

Before: TypeAlias = Callable[[Position, Sequence[Ply]], None]
"""Gets a position and the plies that are about to be replayed from it."""


class Positions:
    """A thread-safe cache of the newest position of each board.

    Callers name the number of plies that the board's row counts, and add committed positions only.
    """

    def __init__(self, registry: Registry, most: int = REMEMBERED_PLIES) -> None:
        self._registry = registry
        self._most = most
        self._kept: OrderedDict[int, Position] = OrderedDict()
        self._plies = 0
        self._lock = threading.Lock()
        self._stopped: frozenset[str] = frozenset()
        self._look_at = 0.0

    def newest(
        self,
        connection: Connection,
        board: BoardRow,
        before: Before | None = None,
    ) -> Position:
        """Return the position of *board* after the plies that its row counts.

        Args:
            before: is called before plies are replayed, and may raise.

        Raises:
            GameAway: the game is stopped or not installed.
        """
        self.must_run(connection, board.game)
        with self._lock:
            position = self._kept.get(board.id)
            if position is not None:
                self._kept.move_to_end(board.id)
        if position is None:
            position = self._opening(board)
        if position.number < board.plies:
            plies = record(connection, board.id, position.number)
            if before is not None:
                before(position, plies)
            for ply in plies:
                position = position.play(ply)
        # A reader's row may be older than what others have committed since.
        if position.number > board.plies:
            return position.at(board.plies)
        return position

    def must_run(self, connection: Connection, game: str) -> None:
        """Check that a game is not stopped.

        Raises:
            GameAway: it is.
        """
        if monotonic() >= self._look_at:
            self._stopped = game_pauses.stopped(connection)
            self._look_at = monotonic() + PAUSES_FRESH_S
        if game in self._stopped:
            raise GameAway(game, is_stopped=True)

    def look_again(self) -> None:
        """Read the list of stopped games at the next board, since it has changed."""
        self._look_at = 0.0

    def remember(self, played: Mapping[int, Position]) -> None:
        """Add positions by board; call this only after the commit."""
        with self._lock:
            for board_id, position in played.items():
                cached = self._kept.get(board_id)
                if cached is not None:
                    if cached.number >= position.number:
                        continue
                    self._plies -= cached.number + 1
                self._kept[board_id] = position
                self._kept.move_to_end(board_id)
                self._plies += position.number + 1
            while self._plies > self._most and len(self._kept) > 1:
                _, forgotten = self._kept.popitem(last=False)
                self._plies -= forgotten.number + 1

    def _opening(self, board: BoardRow) -> Position:
        game = self._registry.version(board.game, board.rules_version)
        return opening(
            game,
            GameRecord(board.game, board.rules_version, board.seats, board.options, board.seed),
        )


class ReadOnlyPositions(Positions):
    """Positions for reading in a transaction: uses another cache and adds nothing to it."""

    def __init__(self, positions: Positions, registry: Registry) -> None:
        super().__init__(registry)
        self._positions = positions

    def newest(
        self,
        connection: Connection,
        board: BoardRow,
        before: Before | None = None,
    ) -> Position:
        """Return a position, see `Positions.newest`."""
        return self._positions.newest(connection, board, before)

    def must_run(self, connection: Connection, game: str) -> None:
        """Check that a game is not stopped, see `Positions.must_run`."""
        self._positions.must_run(connection, game)

    def remember(self, played: Mapping[int, Position]) -> None:
        """Do nothing: the position may never be committed."""
