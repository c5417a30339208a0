"""Computes all ratings again from the record of the boards, and compares them with the rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations, zip_longest

from sqlalchemy import Connection

from pbmserv.engine.ratings import UNRATED, WINDOW, Past
from pbmserv.engine.registry import Registry
from pbmserv.service.ratings import rating
from pbmserv.store import bots as bot_rows
from pbmserv.store import ratings
from pbmserv.store.core.database import Database
from pbmserv.store.ratings import Change, EndedBoard, Rated, row_of

EXAMPLES = 20
"""Differences that are listed."""


@dataclass(slots=True)
class Comparison:
    """The result of comparing the rows with the record.

    Attributes:
        boards, players: number of rated boards that are over, and of standings.
        differences: number of rows that differ from the record.
        examples: a line for each of the first differences.
    """

    boards: int = 0
    players: int = 0
    differences: int = 0
    examples: list[str] = field(default_factory=list)

    def add_difference(self, line: str) -> None:
        """Count a difference."""
        self.differences += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(line)


def rebuild(connection: Connection) -> Comparison:
    """Replace all ratings by those that follow from the record of the boards."""
    ratings.freeze(connection)
    comparison = _compare(connection)
    if comparison.differences:
        computed = _Recomputation(connection)
        ratings.replace(connection, computed.changes(), computed.standings)
    return comparison


def check(database: Database) -> Comparison:
    """Compare all ratings with those that follow from the record; change nothing."""
    engine = database.reading
    if not database.is_sqlite:  # SQLite always reads one state of the database
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        return _compare(connection)


def _compare(connection: Connection) -> Comparison:
    comparison, computed = Comparison(), _Recomputation(connection)
    for change, row in zip_longest(computed.changes(), ratings.all_changes(connection)):
        if change != row:
            board, player = (change or row).board_id, (change or row).player_id
            comparison.add_difference(f"board {board}, player {player}: another change")
    comparison.boards, comparison.players = computed.boards, len(computed.standings)
    rows = ratings.all_rows(connection)
    for game, player in sorted(computed.standings.keys() | rows.keys()):
        standing = computed.standings.get((game, player))
        computed_row = None if standing is None else row_of(game, standing)
        if computed_row != rows.get((game, player)):
            comparison.add_difference(f"{game}, player {player}: another standing")
    return comparison


class _Recomputation:
    """Ratings that are computed again from the records of the boards.

    Attributes:
        boards: number of rated boards that were read.
        standings: standings after these boards, by game and player id.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._pasts = _Pasts()
        bots = bot_rows.userids(connection)
        self._fixed = {
            game.info.key: rating.fixed_ratings(game, bots) for game in Registry.installed()
        }
        self.boards = 0
        self.standings: dict[tuple[str, int], Rated] = {}

    def changes(self) -> Iterator[Change]:
        """Read all boards, and yield their changes in the order of `store.ratings.all_changes`."""
        for board in ratings.ended_boards(self._connection):
            if rating.can_be_rated(board.player_ids):
                self.boards += 1
                yield from sorted(self._rate(board), key=lambda change: change.player_id)

    def _rate(self, board: EndedBoard) -> list[Change]:
        """Return the changes of a board, and keep the new standings of its players."""
        keys = [(board.game, player_id) for player_id in board.player_ids]
        before = [self.standings.get(key) or Rated(key[1], UNRATED, board.ended_at) for key in keys]
        fixed = self._fixed.get(board.game, {})
        changes, after = rating.rate(
            board.id,
            board.game,
            rating.with_fixed_ratings(before, fixed),
            board.places,
            self._pasts.add(board),
            board.ended_at,
            fixed,
        )
        self.standings.update(zip(keys, after, strict=True))
        return changes


class _Pasts:
    """Rated games between pairs of players, counted while all boards are read in order."""

    def __init__(self) -> None:
        self._ended: dict[tuple[str, int, int], deque[datetime]] = {}

    def add(self, board: EndedBoard) -> dict[tuple[int, int], Past]:
        """Add a board; return its players' earlier games with each other, see
        `store.ratings.pasts`.
        """
        pasts = {}
        ids, since = board.player_ids, board.ended_at - WINDOW
        for pair in combinations(range(len(ids)), 2):
            low, high = sorted(ids[seat] for seat in pair)
            met = (board.game, low, high) in self._ended
            ended = self._ended.setdefault((board.game, low, high), deque())
            while ended and ended[0] <= since:
                ended.popleft()
            if met:
                pasts[pair] = Past(len(ended), met=True)
            ended.append(board.ended_at)
        return pasts
