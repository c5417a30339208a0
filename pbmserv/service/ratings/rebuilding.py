"""Making all ratings anew from the record of the boards, and comparing them with what is there."""

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

MOST_TOLD = 20
"""Differences that are told one by one."""


@dataclass(slots=True)
class Compared:
    """What a rebuild came to.

    Attributes:
        boards, players: rated boards that are over, and standings they led to.
        differences: how many rows were (or are) not as they should be.
        told: the first of them, a line each.
    """

    boards: int = 0
    players: int = 0
    differences: int = 0
    told: list[str] = field(default_factory=list)

    def differs(self, line: str) -> None:
        """Count one difference."""
        self.differences += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(line)


def rebuild(connection: Connection) -> Compared:
    """Replace all ratings by what the boards' record leads to."""
    ratings.freeze(connection)
    compared = _compare(connection)
    if compared.differences:
        standings: dict[tuple[str, int], Rated] = {}
        ratings.replace(connection, _in_order(_fold(connection, standings)), standings)
    return compared


def check(database: Database) -> Compared:
    """Compare all ratings with what the boards' record leads to; change nothing."""
    engine = database.reading
    if not database.is_sqlite:  # SQLite reads one moment of the database anyhow
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        return _compare(connection)


def _compare(connection: Connection) -> Compared:
    compared = Compared()
    standings: dict[tuple[str, int], Rated] = {}
    ours = _in_order(_fold(connection, standings, compared))
    for right, found in zip_longest(ours, ratings.all_changes(connection)):
        if right != found:
            one = right or found
            compared.differs(f"board {one.board_id}, player {one.player_id}: another change")
    compared.players = len(standings)
    rows = ratings.all_rows(connection)
    for key in sorted(standings.keys() | rows.keys()):
        right_row = row_of(key[0], standings[key]) if key in standings else None
        if right_row != rows.get(key):
            compared.differs(f"{key[0]}, player {key[1]}: another standing")
    return compared


def _fold(
    connection: Connection,
    standings: dict[tuple[str, int], Rated],
    compared: Compared | None = None,
) -> Iterator[list[Change]]:
    """The changes of one board after the other; *standings* holds what they have led to."""
    pasts = _Pasts()
    bots = bot_rows.userids(connection)
    strong = {game.info.key: rating.strong_bots(game, bots) for game in Registry.installed()}
    for board in ratings.ended_boards(connection):
        if not rating.counts(board.player_ids):
            continue
        keys = [(board.game, player_id) for player_id in board.player_ids]
        before = [standings.get(key) or Rated(key[1], UNRATED, board.ended_at) for key in keys]
        fixed = strong.get(board.game, {})
        before = rating.anchored(before, fixed)
        behind = pasts.before(board)
        changes, after = rating.rated(
            board.id, board.game, before, board.places, behind, board.ended_at, fixed
        )
        standings.update(zip(keys, after, strict=True))
        if compared is not None:
            compared.boards += 1
        yield changes


class _Pasts:
    """Who has had rated games with whom, while all boards are gone through."""

    def __init__(self) -> None:
        self._ended: dict[tuple[str, int, int], deque[datetime]] = {}

    def before(self, board: EndedBoard) -> dict[tuple[int, int], Past]:
        """What the players of a board had behind them, as `store.ratings.pasts` has it; from now
        on they have this board behind them, too."""
        found = {}
        ids, since = board.player_ids, board.ended_at - WINDOW
        for pair in combinations(range(len(ids)), 2):
            low, high = sorted(ids[seat] for seat in pair)
            met = (board.game, low, high) in self._ended
            ended = self._ended.setdefault((board.game, low, high), deque())
            while ended and ended[0] <= since:
                ended.popleft()
            if met:
                found[pair] = Past(len(ended), met=True)
            ended.append(board.ended_at)
        return found


def _in_order(boards: Iterator[list[Change]]) -> Iterator[Change]:
    """Changes as `store.ratings.all_changes` has them."""
    for changes in boards:
        yield from sorted(changes, key=lambda change: change.player_id)
