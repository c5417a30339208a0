"""Rows of scores of races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select

from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.ratings import scores


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A score in a list."""

    userid: str
    score: int
    board: int
    ended_at: datetime


_BEST = (
    select(*columns_of(ScoreLine, players, scores, board=scores.c.board_id))
    .join(players, players.c.id == scores.c.player_id)
    .where(
        scores.c.game == bindparam("of_game"),
        scores.c.kind == bindparam("of_kind"),
        players.c.state != PlayerState.DELETED,
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
    by_seat: Mapping[Seat, tuple[int, int]],
    now: datetime,
) -> None:
    """Store the scores of a board: (player, score) by seat."""
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
        for seat, (player, score) in by_seat.items()
    ]
    if rows:
        connection.execute(insert(scores), rows)


def best(connection: Connection, game: str, kind: str, most: int) -> list[ScoreLine]:
    """Return the best scores of a kind of board; equal ones in the order of their time."""
    rows = connection.execute(_BEST, {"of_game": game, "of_kind": kind, "most": most})
    return [ScoreLine(*row) for row in rows]


def kinds(connection: Connection, game: str, most: int) -> list[tuple[str, int]]:
    """Return kinds of boards with their number of scores, the most played first."""
    rows = connection.execute(_KINDS, {"of_game": game, "most": most})
    return [(row[0], row[1]) for row in rows]


_BEST_OF_PLAYER = (
    select(scores.c.game, scores.c.kind, func.count(), func.min(scores.c.score))
    .where(scores.c.player_id == bindparam("player"))
    .group_by(scores.c.game, scores.c.kind)
    .order_by(func.count().desc(), scores.c.game, scores.c.kind)
    .limit(bindparam("most"))
)


def best_by_kind(
    connection: Connection, player_id: int, most: int
) -> list[tuple[str, str, int, int]]:
    """Return (game, kind of board, number of scores, best score) of a player, the most played
    first.
    """
    rows = connection.execute(_BEST_OF_PLAYER, {"player": player_id, "most": most})
    return [(row[0], row[1], row[2], row[3]) for row in rows]
