"""Rows of the games of events: pairings, byes and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from pbmserv.store.core.statements import columns_of, first_row, values_of
from pbmserv.store.tables.boards import BoardStatus, boards
from pbmserv.store.tables.events import pairings


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game of an event.

    Attributes:
        second_id: `None` for a bye.
        first_points, second_points: 2 for a win, 1 for a draw; `None` if the game runs or does not
            count.
        reason: why it is over, ``""`` if it is not; ``removed`` if it does not count.
    """

    round: int
    group_number: int
    number: int
    first_id: int
    second_id: int | None
    board_id: int | None
    first_points: int | None
    second_points: int | None
    reason: str

    @property
    def is_open(self) -> bool:
        return not self.reason

    @property
    def counts(self) -> bool:
        return self.first_points is not None


_PAIRING = select(*columns_of(Pairing, pairings))
IS_ENDED = and_(
    pairings.c.reason == "",
    boards.c.status.in_((BoardStatus.FINISHED, BoardStatus.DECLINED)),
)
"""A game whose board is over and whose result is not stored."""


def of_event(
    connection: Connection, event_id: int, groups: tuple[int, int] | None = None
) -> list[Pairing]:
    """Return the games of an event, or of some of its groups, in order.

    Args:
        groups: the first and the last group.
    """
    statement = _PAIRING.where(pairings.c.event_id == event_id)
    if groups is not None:
        statement = statement.where(pairings.c.group_number.between(*groups))
    rows = connection.execute(
        statement.order_by(pairings.c.round, pairings.c.group_number, pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def of_player(connection: Connection, event_id: int, player_id: int) -> list[Pairing]:
    """Return the games of a player in an event, by round."""
    rows = connection.execute(
        _PAIRING.where(
            pairings.c.event_id == event_id,
            or_(pairings.c.first_id == player_id, pairings.c.second_id == player_id),
        ).order_by(pairings.c.round, pairings.c.group_number, pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def add(connection: Connection, event_id: int, rows: Sequence[Pairing]) -> None:
    """Store games."""
    if rows:
        values = [{"event_id": event_id, **values_of(row, pairings)} for row in rows]
        connection.execute(insert(pairings), values)


def settle(
    connection: Connection,
    event_id: int,
    game: Pairing,
    points: tuple[int, int] | tuple[None, None],
    reason: str,
) -> None:
    """Store the result of a game."""
    connection.execute(
        update(pairings)
        .where(
            pairings.c.event_id == event_id,
            pairings.c.round == game.round,
            pairings.c.group_number == game.group_number,
            pairings.c.number == game.number,
        )
        .values(first_points=points[0], second_points=points[1], reason=reason)
    )


def ended_games(
    connection: Connection, event_id: int, group_number: int | None = None
) -> list[Pairing]:
    """Return the games of a group whose board is over and whose result is not stored, oldest board
    first.

    Args:
        group_number: the group; `None` for the first one that has such games.
    """
    if group_number is None:
        group_number = connection.execute(
            select(func.min(pairings.c.group_number))
            .join(boards, boards.c.id == pairings.c.board_id)
            .where(pairings.c.event_id == event_id, IS_ENDED)
        ).scalar()
    if group_number is None:
        return []
    rows = connection.execute(
        _PAIRING.join(boards, boards.c.id == pairings.c.board_id)
        .where(pairings.c.event_id == event_id, pairings.c.group_number == group_number, IS_ENDED)
        .order_by(boards.c.finished_at, boards.c.id)
    )
    return [Pairing(*row) for row in rows]


def open_games(connection: Connection, event_id: int, round_number: int) -> list[Pairing]:
    """Return the games without a result of the first group that has any in a round."""
    is_open = and_(
        pairings.c.event_id == event_id,
        pairings.c.round == round_number,
        pairings.c.reason == "",
    )
    first = select(func.min(pairings.c.group_number)).where(is_open).scalar_subquery()
    rows = connection.execute(
        _PAIRING.where(is_open, pairings.c.group_number == first).order_by(pairings.c.number)
    )
    return [Pairing(*row) for row in rows]


def of_board(connection: Connection, board_id: int) -> Pairing | None:
    """Return the game of a board, `None` if it belongs to no event."""
    return first_row(connection, Pairing, _PAIRING.where(pairings.c.board_id == board_id))


def first_board(connection: Connection, event_id: int, player_id: int) -> int | None:
    """Return the first board of a player in an event, `None` if there is none."""
    statement = select(func.min(pairings.c.board_id)).where(
        pairings.c.event_id == event_id,
        or_(pairings.c.first_id == player_id, pairings.c.second_id == player_id),
    )
    return connection.execute(statement).scalar()


def groups(connection: Connection, event_id: int, round_number: int | None = None) -> set[int]:
    """Return the groups that have games, in one round or any."""
    statement = select(pairings.c.group_number).where(pairings.c.event_id == event_id).distinct()
    if round_number is not None:
        statement = statement.where(pairings.c.round == round_number)
    return set(connection.execute(statement).scalars())
