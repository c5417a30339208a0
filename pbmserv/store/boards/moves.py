"""Rows of moves, plans and submitted moves, and positions replayed from them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.clocks import to_json
from pbmserv.engine.position import Position, octets_of, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.errors import GameAway
from pbmserv.store.boards import game_pauses
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.clocks import Times
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.tables.boards import boards, plies, seats, submitted_moves

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
REMEMBERED_OCTETS = 3_000_000
"""Octets of all cached positions. A board that is not cached is replayed."""
LEAST_OCTETS = 1_300
"""Octets that a ply takes at least, of a game with small states."""
UNKNOWN_OCTETS = 100_000
"""Octets that a state counts if it cannot be measured, because it is not a plain value."""

Before: TypeAlias = Callable[[Position, Sequence[Ply]], None]
"""Gets a position and the plies that are about to be replayed from it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A cached position, with the octets per ply of its chain when that was measured."""

    position: Position
    measured_at: int
    per_ply: int

    @property
    def octets(self) -> int:
        return self.per_ply * (self.position.number + 1)


def _measured(position: Position, before: _Kept | None) -> _Kept:
    """Return a position with its size, which is measured whenever the plies have doubled.

    Blackbox is ours and its states are small. To measure them would take as long as three plies.
    """
    if before is not None and position.number < 2 * before.measured_at:
        return _Kept(position, before.measured_at, before.per_ply)
    plies = position.number + 1
    if not isinstance(position.game, AdaptedGame):
        return _Kept(position, plies, LEAST_OCTETS)
    return _Kept(position, plies, max(LEAST_OCTETS, _octets_of_states(position) // plies))


def _octets_of_states(position: Position) -> int:
    """Return the octets of all states of a board; a part that several states share counts once."""
    states, before = [position.state], position.before
    while before is not None:
        states.append(before.state)
        before = before.before
    octets = octets_of(states)
    return UNKNOWN_OCTETS * len(states) if octets is None else octets


class Positions:
    """A thread-safe cache of the newest position of each board.

    Callers name the number of plies that the board's row counts, and add committed positions only.
    """

    def __init__(self, registry: Registry, most: int = REMEMBERED_OCTETS) -> None:
        self._registry = registry
        self._most = most
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._octets = 0
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
        self.check_is_running(connection, board.game)
        with self._lock:
            kept = self._kept.get(board.id)
            if kept is not None:
                self._kept.move_to_end(board.id)
        position = self._opening(board) if kept is None else kept.position
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

    def check_is_running(self, connection: Connection, game: str) -> None:
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
        for board_id, position in played.items():
            with self._lock:
                cached = self._kept.get(board_id)
            if cached is not None and cached.position.number >= position.number:
                continue
            kept = _measured(position, cached)
            with self._lock:
                self._keep(board_id, kept)

    def _keep(self, board_id: int, kept: _Kept) -> None:
        """Add a position, and drop the boards that nobody has looked at for longest.

        A board that is larger than the memory is replayed each time.
        """
        cached = self._kept.pop(board_id, None)
        if cached is not None:
            self._octets -= cached.octets
        if kept.octets > self._most:
            return
        self._kept[board_id] = kept
        self._octets += kept.octets
        while self._octets > self._most:
            _, forgotten = self._kept.popitem(last=False)
            self._octets -= forgotten.octets

    def _opening(self, board: BoardRow) -> Position:
        game = self._registry.version(board.game, board.rules_version)
        return opening(
            game,
            GameRecord(board.game, board.rules_version, board.seats, board.options, board.seed),
        )
