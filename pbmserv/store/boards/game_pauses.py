"""Rows of games that cannot be played: their rules hung, or they are not installed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, or_, select, update

from pbmserv.engine.time_spans import Span
from pbmserv.errors import GameAway
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import add_if_new, change_rows, columns_of, count_rows, values_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import RUNNING, boards, seats
from pbmserv.store.tables.bots import house_turns
from pbmserv.store.tables.downtime import PauseKind, game_pauses, game_stops

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When bots move on the boards of a game that is paused."""

_OPEN = game_pauses.c.ends.is_(None)


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a process that hung or died in the rules of a game.

    Attributes:
        id: a UUID, so that it is counted once.
        stage: the process: ``play``, ``post1`` …
        place: file, line and function of the rules, for the operator.
    """

    id: str
    game: str
    stopped_at: datetime
    stage: str
    place: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A time when a game cannot be played."""

    game: str
    kind: PauseKind
    why: str
    begins: datetime


_PAUSE = columns_of(Pause, game_pauses)
_STOPPED = Prepared(
    select(game_pauses.c.game).where(_OPEN, game_pauses.c.kind == PauseKind.STOPPED.value)
)


def add_stop(connection: Connection, stop: Stop) -> bool:
    """Store a stop; return `False` if it is stored already."""
    return add_if_new(connection, game_stops, **values_of(stop, game_stops))


def count_stops(connection: Connection, game: str, since: datetime) -> int:
    """Return the number of stops of a game since a moment, and since it was last resumed."""
    resumed = (
        select(func.max(game_pauses.c.ends))
        .where(game_pauses.c.game == game, game_pauses.c.kind == PauseKind.STOPPED)
        .scalar_subquery()
    )
    return count_rows(
        connection,
        game_stops,
        game_stops.c.game == game,
        game_stops.c.stopped_at > since,
        or_(resumed.is_(None), game_stops.c.stopped_at > resumed),
    )


def begin(connection: Connection, game: str, kind: PauseKind, why: str, now: datetime) -> bool:
    """Begin a pause; return `False` if the game has one of this kind already."""
    return add_if_new(connection, game_pauses, game=game, kind=kind, why=why, begins=now)


def rest_bots(connection: Connection, game: str) -> None:
    """Let no bot move on the boards of a game before its pause ends."""
    _set_bots_due(connection, game, NEVER)


def _set_bots_due(connection: Connection, game: str, due_at: datetime) -> None:
    """Set when bots move on the boards of a game on which it is their turn."""
    change_rows(connection, house_turns, {"game": game}, due_at=due_at)


def end(connection: Connection, game: str, kind: PauseKind, now: datetime) -> bool:
    """End the pause of a game, and let bots and the scheduler look at its boards.

    Earlier stops count no more. Return whether the game had such a pause.
    """
    which = {"game": game, "kind": kind, "ends": None}
    if not change_rows(connection, game_pauses, which, ends=now):
        return False
    _set_bots_due(connection, game, now)
    connection.execute(
        update(boards).where(boards.c.game == game, boards.c.status.in_(RUNNING)).values(due_at=now)
    )
    return True


def stopped(connection: Connection) -> frozenset[str]:
    """Return the keys of the games whose rules hung, and which nobody has resumed."""
    return frozenset([row[0] for row in _STOPPED.run(connection, {})])


def check_is_running(connection: Connection, game: str) -> None:
    """Check that a game is not stopped.

    Raises:
        GameAway: it is.
    """
    if game in stopped(connection):
        raise GameAway(game, is_stopped=True)


def present(connection: Connection) -> list[Pause]:
    """Return the pauses that have not ended."""
    rows = connection.execute(select(*_PAUSE).where(_OPEN).order_by(game_pauses.c.game))
    return [Pause(*row) for row in rows]


def spans(connection: Connection, game: str, since: datetime, now: datetime) -> tuple[Span, ...]:
    """Return the pauses of a game that had not ended at *since*; one that lasts ends *now*."""
    rows = connection.execute(
        select(game_pauses.c.begins, game_pauses.c.ends).where(
            game_pauses.c.game == game, or_(_OPEN, game_pauses.c.ends > since)
        )
    )
    return tuple((row.begins, row.ends or now) for row in rows)


def running_versions(connection: Connection) -> set[tuple[str, int]]:
    """Return key and version of the rules of all running boards."""
    rows = connection.execute(
        select(boards.c.game, boards.c.rules_version).where(boards.c.status.in_(RUNNING)).distinct()
    )
    return {(row.game, row.rules_version) for row in rows}


def count_boards(connection: Connection, games: Collection[str]) -> dict[str, int]:
    """Return the number of running boards of games."""
    rows = connection.execute(
        select(boards.c.game, func.count().label("boards"))
        .where(boards.c.game.in_(games), boards.c.status.in_(RUNNING))
        .group_by(boards.c.game)
    )
    return {row.game: row.boards for row in rows}


def players_of(connection: Connection, game: str) -> list[tuple[int, str]]:
    """Return id and address of the players of a game's running boards, except bots."""
    rows = connection.execute(
        select(players.c.id, players.c.address)
        .join(seats, seats.c.player_id == players.c.id)
        .join(boards, boards.c.id == seats.c.board_id)
        .where(
            boards.c.game == game,
            boards.c.status.in_(RUNNING),
            players.c.state == PlayerState.ACTIVE,
            players.c.unreachable_since.is_(None),
        )
        .distinct()
        .order_by(players.c.id)
    )
    return [(row.id, row.address) for row in rows]
