"""Rows of solo play: scores of races, and subscriptions to boxes of the day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import columns_of, values_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boxes import daily_readers
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


def keep_scores(
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


def best_scores(connection: Connection, game: str, kind: str, most: int) -> list[ScoreLine]:
    """Return the best scores of a kind of board; equal ones in the order of their time."""
    rows = connection.execute(_BEST, {"of_game": game, "of_kind": kind, "most": most})
    return [ScoreLine(*row) for row in rows]


def score_kinds(connection: Connection, game: str, most: int) -> list[tuple[str, int]]:
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


@dataclass(frozen=True, slots=True)
class Reader:
    """A player's subscription to a game's box of the day."""

    player_id: int
    game: str
    minute: int
    due_at: datetime


_DUE_READERS = (
    select(daily_readers.c.player_id)
    .where(daily_readers.c.due_at <= bindparam("now"))
    .order_by(daily_readers.c.due_at)
    .limit(bindparam("most"))
)
_CLAIM = (
    select(*columns_of(Reader, daily_readers))
    .where(
        daily_readers.c.player_id == bindparam("player"), daily_readers.c.due_at <= bindparam("now")
    )
    .order_by(daily_readers.c.game)
    .with_for_update(skip_locked=True)
)


def due_dailies(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return players whose box of the day is due."""
    rows = connection.execute(_DUE_READERS, {"now": now, "most": most}).scalars()
    return list(dict.fromkeys(rows))


def claim_dailies(connection: Connection, player_id: int, now: datetime) -> list[Reader]:
    """Return and lock a player's due subscriptions; none if another process has them."""
    rows = connection.execute(_CLAIM, {"player": player_id, "now": now})
    return [Reader(*row) for row in rows]


def set_daily_due(connection: Connection, reader: Reader, at: datetime) -> None:
    """Set when a player gets the next box."""
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == reader.player_id, daily_readers.c.game == reader.game)
        .values(due_at=at)
    )


def put_off_dailies(connection: Connection, player_id: int, until: datetime) -> None:
    """Send a player's boxes no earlier than *until*."""
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == player_id, daily_readers.c.due_at <= until)
        .values(due_at=until)
    )


def subscribe(connection: Connection, reader: Reader) -> None:
    """Subscribe a player, or change the hour."""
    unsubscribe(connection, reader.player_id, reader.game)
    connection.execute(insert(daily_readers).values(values_of(reader, daily_readers)))


def minute_of(connection: Connection, player_id: int, game: str) -> int | None:
    """Return the minute of the local day at which a player gets the box, `None` for never."""
    return connection.execute(
        select(daily_readers.c.minute).where(
            daily_readers.c.player_id == player_id, daily_readers.c.game == game
        )
    ).scalar()


def unsubscribe(connection: Connection, player_id: int, game: str) -> bool:
    """End a subscription; return whether there was one."""
    result = connection.execute(
        delete(daily_readers).where(
            daily_readers.c.player_id == player_id, daily_readers.c.game == game
        )
    )
    return bool(result.rowcount)
