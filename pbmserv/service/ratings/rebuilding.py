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
        standings: dict[tuple[str, int], Rated] = {}
        ratings.replace(connection, _in_order(_recompute(connection, standings)), standings)
    return comparison


def check(database: Database) -> Comparison:
    """Compare all ratings with those that follow from the record; change nothing."""
    engine = database.reading
    if not database.is_sqlite:  # SQLite always reads one state of the database
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        return _compare(connection)


def _compare(connection: Connection) -> Comparison:
    comparison = Comparison()
    standings: dict[tuple[str, int], Rated] = {}
    computed = _in_order(_recompute(connection, standings, comparison))
    for change, row in zip_longest(computed, ratings.all_changes(connection)):
        if change != row:
            key = change or row
            comparison.add_difference(
                f"board {key.board_id}, player {key.player_id}: another change"
            )
    comparison.players = len(standings)
    rows = ratings.all_rows(connection)
    for key in sorted(standings.keys() | rows.keys()):
        computed_row = row_of(key[0], standings[key]) if key in standings else None
        if computed_row != rows.get(key):
            comparison.add_difference(f"{key[0]}, player {key[1]}: another standing")
    return comparison


def _recompute(
    connection: Connection,
    standings: dict[tuple[str, int], Rated],
    comparison: Comparison | None = None,
) -> Iterator[list[Change]]:
    """Yield the changes of each board, and write the resulting standings into *standings*."""
    pasts = _Pasts()
    bots = bot_rows.userids(connection)
    fixed_by_game = {
        game.info.key: rating.fixed_ratings(game, bots) for game in Registry.installed()
    }
    for board in ratings.ended_boards(connection):
        if not rating.can_be_rated(board.player_ids):
            continue
        keys = [(board.game, player_id) for player_id in board.player_ids]
        before = [standings.get(key) or Rated(key[1], UNRATED, board.ended_at) for key in keys]
        fixed = fixed_by_game.get(board.game, {})
        before = rating.with_fixed_ratings(before, fixed)
        changes, after = rating.rate(
            board.id, board.game, before, board.places, pasts.add(board), board.ended_at, fixed
        )
        standings.update(zip(keys, after, strict=True))
        if comparison is not None:
            comparison.boards += 1
        yield changes


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


def _in_order(boards: Iterator[list[Change]]) -> Iterator[Change]:
    """Yield changes in the order of `store.ratings.all_changes`."""
    for changes in boards:
        yield from sorted(changes, key=lambda change: change.player_id)
