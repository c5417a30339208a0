"""Rows of scores: kept when a race ends, listed best first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select

from pbmserv.engine.types import Seat
from pbmserv.store.tables import players, scores


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One score in a list."""

    userid: str
    score: int
    board: int
    ended_at: datetime


_BEST = (
    select(players.c.userid, scores.c.score, scores.c.board_id, scores.c.ended_at)
    .join(players, players.c.id == scores.c.player_id)
    .where(
        scores.c.game == bindparam("of_game"),
        scores.c.kind == bindparam("of_kind"),
        players.c.state != "deleted",
    )
    .order_by(scores.c.score, scores.c.ended_at, scores.c.board_id, scores.c.seat)
    .limit(bindparam("most"))
)
_KINDS = (
    select(scores.c.kind, func.count())
    .where(scores.c.game == bindparam("of_game"))
    .group_by(scores.c.kind)
    .order_by(func.count().desc(), scores.c.kind)
    .limit(bindparam("most"))
)


def keep(
    connection: Connection,
    board_id: int,
    game: str,
    kind: str,
    found: Mapping[Seat, tuple[int, int]],
    now: datetime,
) -> None:
    """Keep scores of one board: (player, score) by seat."""
    rows = [
        {
            "board_id": board_id,
            "seat": seat,
            "player_id": player,
            "game": game,
            "kind": kind,
            "score": score,
            "ended_at": now,
        }
        for seat, (player, score) in found.items()
    ]
    if rows:
        connection.execute(insert(scores), rows)


def best(connection: Connection, game: str, kind: str, most: int) -> list[ScoreLine]:
    """The best scores of one kind of board; equal ones in the order in which they were reached."""
    found = connection.execute(_BEST, {"of_game": game, "of_kind": kind, "most": most})
    return [ScoreLine(*row) for row in found]


def kinds(connection: Connection, game: str, most: int) -> list[tuple[str, int]]:
    """Kinds of boards with scores, and how many they have; the most played first."""
    found = connection.execute(_KINDS, {"of_game": game, "most": most})
    return [(row[0], row[1]) for row in found]
