"""The positions of boards, replayed from their rows, and a cache of the newest ones."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, octets_of, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import Registry
from pbmserv.store.boards import game_pauses, moves
from pbmserv.store.boards.boards import BoardRow

REMEMBERED_OCTETS = 3_000_000
"""Octets of all cached positions. A board that is not cached is replayed."""
LEAST_OCTETS = 1_300
"""Octets that a ply takes at least, of a game with small states."""
UNKNOWN_OCTETS = 100_000
"""Octets of a state that cannot be measured, because it is not a plain value."""

Before: TypeAlias = Callable[[Position, Sequence[Ply]], None]
"""Gets a position and the plies that are about to be replayed from it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A cached position, with the octets of all states of its board."""

    position: Position
    octets: int


def _octets_of_board(position: Position) -> int:
    """Return about how many octets the states of a board take, each as many as the newest one.

    Blackbox is ours and its states are small.
    """
    octets: int | None = 0
    if isinstance(position.game, AdaptedGame):
        octets = octets_of(position.state.state)
    each = UNKNOWN_OCTETS if octets is None else max(LEAST_OCTETS, octets)
    return each * (position.number + 1)


class Positions:
    """A thread-safe cache of the newest position of each board.

    Callers name the number of plies that the board's row counts, and add committed positions only.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._octets = 0
        self._lock = threading.Lock()

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
        game_pauses.check_is_running(connection, board.game)
        with self._lock:
            kept = self._kept.get(board.id)
            if kept is not None:
                self._kept.move_to_end(board.id)
        position = self._opening(board) if kept is None else kept.position
        if position.number < board.plies:
            plies = moves.record(connection, board.id, position.number)
            if before is not None:
                before(position, plies)
            for ply in plies:
                position = position.play(ply)
        # A reader's row may be older than what others have committed since.
        if position.number > board.plies:
            return position.at(board.plies)
        return position

    def remember(self, played: Mapping[int, Position]) -> None:
        """Add positions by board; call this only after the commit."""
        for board_id, position in played.items():
            with self._lock:
                cached = self._kept.get(board_id)
            if cached is None or cached.position.number < position.number:
                kept = _Kept(position, _octets_of_board(position))
                with self._lock:
                    self._keep(board_id, kept)

    def _keep(self, board_id: int, kept: _Kept) -> None:
        """Add a position, and drop the boards that nobody has looked at for longest.

        A board that is larger than the memory is replayed each time.
        """
        cached = self._kept.pop(board_id, None)
        if cached is not None:
            self._octets -= cached.octets
        if kept.octets > REMEMBERED_OCTETS:
            return
        self._kept[board_id] = kept
        self._octets += kept.octets
        while self._octets > REMEMBERED_OCTETS:
            _, forgotten = self._kept.popitem(last=False)
            self._octets -= forgotten.octets

    def _opening(self, board: BoardRow) -> Position:
        game = self._registry.version(board.game, board.rules_version)
        return opening(
            game,
            GameRecord(board.game, board.rules_version, board.seats, board.options, board.seed),
        )
