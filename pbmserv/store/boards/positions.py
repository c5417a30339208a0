"""Replays boards from their records, and remembers the newest positions.

What is remembered is only ever a cache: it is asked with the number of plies that the board's
row shows, and filled with committed positions alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import Registry
from pbmserv.store.boards import moves
from pbmserv.store.boards.boards import BoardRow

REMEMBERED_PLIES = 40_000
"""Positions kept in memory over all boards, about 1 kB each."""


class Positions:
    """Newest positions by board, least recently used ones forgotten. Thread-safe."""

    def __init__(self, registry: Registry, most: int = REMEMBERED_PLIES) -> None:
        self._registry = registry
        self._most = most
        self._kept: OrderedDict[int, Position] = OrderedDict()
        self._plies = 0
        self._lock = threading.Lock()

    def newest(
        self,
        connection: Connection,
        board: BoardRow,
        before: Callable[[Sequence[Ply]], None] | None = None,
    ) -> Position:
        """The position of *board* after the plies that its row counts.

        *before* is told which plies are about to be replayed, and may raise.
        """
        with self._lock:
            position = self._kept.get(board.id)
            if position is not None:
                self._kept.move_to_end(board.id)
        if position is None:
            position = self._opening(board)
        if position.number < board.plies:
            plies = moves.record(connection, board.id, position.number)
            if before is not None:
                before(plies)
            for ply in plies:
                position = position.play(ply)
        # A reader's row may be older than what others have committed since.
        return position.at(board.plies)

    def remember(self, board_id: int, position: Position) -> None:
        """Keep a position; call this only once it is committed."""
        with self._lock:
            known = self._kept.get(board_id)
            if known is not None:
                if known.number >= position.number:
                    return
                self._plies -= known.number + 1
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


class Lookout(Positions):
    """What others remember, for whoever looks from inside of a transaction: nothing is kept."""

    def __init__(self, positions: Positions, registry: Registry) -> None:
        super().__init__(registry)
        self._positions = positions

    def newest(
        self,
        connection: Connection,
        board: BoardRow,
        before: Callable[[Sequence[Ply]], None] | None = None,
    ) -> Position:
        """As `Positions.newest`."""
        return self._positions.newest(connection, board, before)

    def remember(self, board_id: int, position: Position) -> None:
        """Nothing: the position may never be committed."""
