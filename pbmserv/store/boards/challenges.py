"""Rows of challenges, seeks, and boards that wait for a confirmation.

Anybody can ask for a board in a player's name without proving to be that player; such a board is
created when the player confirms it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from pbmserv.engine.clocks import Terms
from pbmserv.store.boards import player_boards
from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import (
    RUNNING,
    BoardStatus,
    boards,
    seats,
    seeks,
    unconfirmed_boards,
)


def alone(connection: Connection, player_id: int) -> int:
    """Return the number of running boards at which the player is alone."""
    return len(player_boards.of_player(connection, player_id, RUNNING, alone=True))


def open_by(connection: Connection, player_id: int, *, proven: bool) -> int:
    """Return the number of boards on which the player waits for others to accept.

    Args:
        proven: count boards that the player provably asked for, or those without proof.
    """
    return len(_open_boards(connection, player_id, proven=proven))


def open_towards(connection: Connection, player_id: int, other_id: int, *, proven: bool) -> int:
    """Return the number of such boards on which the player waits for this other one."""
    mine = _open_boards(connection, player_id, proven=proven)
    theirs = player_boards.of_player(
        connection, other_id, (BoardStatus.PROPOSED,), accepted=False, among=mine
    )
    return len(theirs)


def _open_boards(connection: Connection, player_id: int, *, proven: bool) -> list[int]:
    return player_boards.of_player(
        connection, player_id, (BoardStatus.PROPOSED,), accepted=True, proven=proven
    )


def running_between(connection: Connection, player_id: int, other_id: int) -> int:
    """Return the number of boards of both players that are not over, accepted or not."""
    mine = player_boards.of_player(connection, player_id, RUNNING)
    return len(player_boards.of_player(connection, other_id, RUNNING, among=mine))


def have_played(
    connection: Connection, player_ids: Collection[int], other_ids: Collection[int]
) -> bool:
    """Return whether one of some players has played with one of others."""
    mine, theirs = (
        {
            board_id
            for player_id in sorted(ids)
            for board_id in player_boards.of_player(
                connection, player_id, (BoardStatus.ACTIVE, BoardStatus.FINISHED), accepted=True
            )
        }
        for ids in (player_ids, other_ids)
    )
    return not mine.isdisjoint(theirs)


def waiting_for(
    connection: Connection,
    player_id: int,
    game: str,
    options: Sequence[str],
    sitting: Sequence[int],
) -> int | None:
    """Return the oldest challenge to this player with exactly these options and seats.

    Returns:
        None if there is none.
    """
    challenges = player_boards.of_player(
        connection, player_id, (BoardStatus.PROPOSED,), accepted=False, game=game
    )
    for board_id in reversed(challenges):
        words = connection.execute(
            select(boards.c.options).where(boards.c.id == board_id)
        ).scalar_one()
        player_ids = connection.execute(
            select(seats.c.player_id).where(seats.c.board_id == board_id).order_by(seats.c.seat)
        ).scalars()
        if list(words) == list(options) and list(player_ids) == list(sitting):
            return board_id
    return None


_LOCK = 0x7365656B
"""Number of the advisory lock: "seek" in ASCII."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An unanswered seek.

    Attributes:
        options: canonical words.
        seed: the seed of its board; `None` in seeks of an older version.
    """

    id: int
    player_id: int
    userid: str
    game: str
    seats: int
    options: tuple[str, ...]
    seed: bytes | None
    created_at: datetime


_SEEK = select(*columns_of(Seek, seeks, players)).join(players, players.c.id == seeks.c.player_id)
_LIKE = _SEEK.where(
    seeks.c.game == bindparam("game"),
    seeks.c.seats == bindparam("seats"),
    players.c.state == PlayerState.ACTIVE,
    players.c.unreachable_since.is_(None),
).order_by(seeks.c.id)
_OPEN_SEEKS = (
    _SEEK.where(players.c.state == PlayerState.ACTIVE, players.c.unreachable_since.is_(None))
    .order_by(seeks.c.id)
    .limit(bindparam("most"))
)
_SEEKS_OF = _SEEK.where(seeks.c.player_id == bindparam("player")).order_by(seeks.c.id)


def lock_seeks(connection: Connection) -> None:
    """Let nobody else look for opponents until the end of the transaction.

    Otherwise two simultaneous seeks that fit would not see each other, and both would wait.
    SQLite has one writer.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def seeks_like(connection: Connection, game: str, seats: int, options: Sequence[str]) -> list[Seek]:
    """Return the seeks of reachable players with these options, oldest first."""
    rows = connection.execute(_LIKE, {"game": game, "seats": seats})
    return [seek for row in rows if (seek := _seek(row)).options == tuple(options)]


def seeks_of(connection: Connection, player_id: int) -> list[Seek]:
    """Return the seeks of a player, oldest first."""
    return [_seek(row) for row in connection.execute(_SEEKS_OF, {"player": player_id})]


def open_seeks(connection: Connection, most: int) -> list[Seek]:
    """Return the seeks of all reachable players, oldest first."""
    return [_seek(row) for row in connection.execute(_OPEN_SEEKS, {"most": most})]


def add_seek(
    connection: Connection,
    player_id: int,
    game: str,
    seats: int,
    options: Sequence[str],
    seed: bytes,
    now: datetime,
) -> None:
    """Store a seek."""
    connection.execute(
        insert(seeks).values(
            player_id=player_id,
            game=game,
            seats=seats,
            options=list(options),
            seed=seed,
            created_at=now,
        )
    )


def remove_seeks(connection: Connection, ids: Sequence[int]) -> None:
    """Delete seeks that were answered or withdrawn."""
    if ids:
        connection.execute(delete(seeks).where(seeks.c.id.in_(ids)))


def _seek(row: Any) -> Seek:
    return replace(Seek(*row), options=tuple(row.options))


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A board that waits for a confirmation.

    Attributes:
        options: canonical words.
        sitting: player ids by seat.
        replayed: board whose box it will have, if it is a copy.
        board_id: board that was created from it; `None` before.
    """

    player_id: int
    game: str
    options: tuple[str, ...]
    sitting: tuple[int, ...]
    terms: Terms
    replayed: int | None
    created_at: datetime
    board_id: int | None = None


def add_unconfirmed(connection: Connection, board: Unconfirmed) -> int:
    """Store a board that waits for a confirmation; return its number."""
    number: int = connection.execute(
        insert(unconfirmed_boards)
        .values(
            player_id=board.player_id,
            game=board.game,
            options=list(board.options),
            sitting=list(board.sitting),
            terms=board.terms.as_list(),
            replayed=board.replayed,
            created_at=board.created_at,
        )
        .returning(unconfirmed_boards.c.id)
    ).scalar_one()
    return number


def lock_unconfirmed(connection: Connection, number: int) -> Unconfirmed | None:
    """Return a row and lock it until the end of the transaction."""
    row = connection.execute(
        select(*columns_of(Unconfirmed, unconfirmed_boards))
        .where(unconfirmed_boards.c.id == number)
        .with_for_update()
    ).first()
    if row is None:
        return None
    return replace(
        Unconfirmed(*row),
        options=tuple(row.options),
        sitting=tuple(row.sitting),
        terms=Terms(*row.terms),
    )


def confirmed(connection: Connection, number: int, board_id: int) -> None:
    """Note the board that was created."""
    connection.execute(
        update(unconfirmed_boards)
        .where(unconfirmed_boards.c.id == number)
        .values(board_id=board_id)
    )


def drop_unconfirmed(connection: Connection, number: int) -> None:
    """Delete a board that its player does not want."""
    connection.execute(delete(unconfirmed_boards).where(unconfirmed_boards.c.id == number))
