"""Rows for lists of finished boards, and for counts of boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Connection, Select, and_, bindparam, func, or_, select

from pbmserv.store.boards import boards as board_rows
from pbmserv.store.shared_boxes.shared_boxes import is_secret
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import RUNNING, boards, plies, seats


@dataclass(frozen=True, slots=True)
class EndedGame:
    """A finished board in a list.

    Attributes:
        turns: number of moves that used a turn; markers and undos do not.
        places, names: by seat.
    """

    board: int
    game: str
    turns: int
    rated: bool
    ended_at: datetime
    reason: str
    places: tuple[int, ...]
    names: tuple[str, ...]


Behind: TypeAlias = tuple[datetime, int]
"""End and number of the last board of a page; the next page begins after it."""

_MAY_BE_TOLD = or_(boards.c.event_id.is_(None), ~is_secret(boards.c.id))
"""The condition that no other player still has the box, dice or deals of a board."""

_ENDED = select(
    boards.c.id,
    boards.c.game,
    boards.c.rated,
    boards.c.finished_at,
    boards.c.outcome,
).where(
    boards.c.finished_at.is_not(None),
    _MAY_BE_TOLD,
)
_NEWEST_FIRST = (boards.c.finished_at.desc(), boards.c.id.desc())
OF_GAME = (
    _ENDED.where(boards.c.game == bindparam("of_game"))
    .order_by(*_NEWEST_FIRST)
    .limit(bindparam("most"))
)
"""The newest finished boards of a game, read from the end of the index."""

_BEHIND = or_(
    boards.c.finished_at < bindparam("ended"),
    and_(boards.c.finished_at == bindparam("ended"), boards.c.id < bindparam("board")),
)
_HAS_PLAYER = boards.c.id.in_(
    select(seats.c.board_id).where(seats.c.player_id == bindparam("of_player"))
)
OF_PLAYER = _ENDED.where(_HAS_PLAYER).order_by(*_NEWEST_FIRST).limit(bindparam("most"))
_OF_PLAYER_GAME = OF_PLAYER.where(boards.c.game == bindparam("of_game"))
_TURNS = (
    select(plies.c.board_id, func.count())
    .where(plies.c.board_id.in_(bindparam("ids", expanding=True)), plies.c.free.is_(False))
    .group_by(plies.c.board_id)
)
_COUNT = select(func.count()).select_from(boards).where(_HAS_PLAYER)
_ENDED_AT = select(boards.c.finished_at).where(boards.c.id == bindparam("board"))


def of_game(
    connection: Connection, game: str, most: int, behind: Behind | None = None
) -> list[EndedGame]:
    """Return finished boards of a game, newest first; *behind* is where the list goes on."""
    return _page(connection, OF_GAME, {"of_game": game, "most": most}, behind)


def of_player(
    connection: Connection,
    player_id: int,
    game: str | None,
    most: int,
    behind: Behind | None = None,
) -> list[EndedGame]:
    """Return finished boards of a player, of one game or of all, newest first."""
    values = {"of_player": player_id, "most": most}
    if game is None:
        return _page(connection, OF_PLAYER, values, behind)
    return _page(connection, _OF_PLAYER_GAME, {**values, "of_game": game}, behind)


def count(connection: Connection, player_id: int, statuses: Sequence[str], game: str | None) -> int:
    """Return the number of a player's boards in these states."""
    statement = _COUNT.where(boards.c.status.in_(statuses))
    if game is not None:
        statement = statement.where(boards.c.game == game)
    number: int = connection.execute(statement, {"of_player": player_id}).scalar_one()
    return number


@dataclass(frozen=True, slots=True)
class Met:
    """A finished board of a player with another player or bot.

    Attributes:
        options: as in the board's record.
        seat, other_seat: seats of the two.
        places: by seat.
    """

    board: int
    game: str
    options: tuple[str, ...]
    seats: int
    userid: str
    seat: int
    other_seat: int
    places: tuple[int, ...]


_mine, _theirs = seats.alias("mine"), seats.alias("theirs")
_MET = (
    select(
        boards.c.id,
        boards.c.game,
        boards.c.options,
        boards.c.seats,
        players.c.userid,
        _mine.c.seat,
        _theirs.c.seat,
        boards.c.outcome,
    )
    .join(_mine, _mine.c.board_id == boards.c.id)
    .join(_theirs, _theirs.c.board_id == boards.c.id)
    .join(players, players.c.id == _theirs.c.player_id)
    .where(
        _mine.c.player_id == bindparam("of_player"),
        _theirs.c.player_id != bindparam("of_player"),
        boards.c.finished_at.is_not(None),
        boards.c.comparable,
        _MAY_BE_TOLD,
        players.c.state != PlayerState.DELETED,
    )
    .order_by(*_NEWEST_FIRST, _theirs.c.seat)
    .limit(bindparam("most"))
)


def met(connection: Connection, player_id: int, most: int) -> list[Met]:
    """Return a player's finished boards with others, newest first.

    Races on a box that a player had chosen are left out, since they are not comparable.
    """
    rows = connection.execute(_MET, {"of_player": player_id, "most": most})
    return [Met(*row[:7], tuple(row[7]["places"])) for row in rows]


_RUNNING_WITH = (
    select(players.c.userid, func.count(boards.c.id.distinct()))
    .select_from(boards)
    .join(_mine, _mine.c.board_id == boards.c.id)
    .join(_theirs, _theirs.c.board_id == boards.c.id)
    .join(players, players.c.id == _theirs.c.player_id)
    .where(
        _mine.c.player_id == bindparam("of_player"),
        _theirs.c.player_id != bindparam("of_player"),
        boards.c.status.in_(RUNNING),
        players.c.state != PlayerState.DELETED,
    )
    .group_by(players.c.userid)
)


def running_with(connection: Connection, player_id: int) -> dict[str, int]:
    """Return the numbers of a player's running and proposed boards, by userid of the others."""
    rows = connection.execute(_RUNNING_WITH, {"of_player": player_id})
    return {row[0]: row[1] for row in rows}


def ended_at(connection: Connection, board_id: int) -> datetime | None:
    """Return when a board ended."""
    return connection.execute(_ENDED_AT, {"board": board_id}).scalar()


def _page(
    connection: Connection, statement: Select[Any], values: dict[str, Any], behind: Behind | None
) -> list[EndedGame]:
    if behind is None:
        return _games(connection, statement, values)
    ended, board = behind
    return _games(connection, statement.where(_BEHIND), {**values, "ended": ended, "board": board})


def _games(
    connection: Connection, statement: Select[Any], values: dict[str, Any]
) -> list[EndedGame]:
    rows = connection.execute(statement, values).all()
    ids = [row.id for row in rows]
    names = board_rows.userids_of(connection, ids)
    turns = {row[0]: row[1] for row in connection.execute(_TURNS, {"ids": ids})}
    return [
        EndedGame(
            board=row.id,
            game=row.game,
            turns=turns.get(row.id, 0),
            rated=row.rated,
            ended_at=row.finished_at,
            reason=row.outcome["reason"],
            places=tuple(row.outcome["places"]),
            names=names[row.id],
        )
        for row in rows
    ]
