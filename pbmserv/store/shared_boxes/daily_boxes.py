"""Rows of the boxes of the day, and of people who have tried them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, case, delete, func, select

from pbmserv.store.core.statements import add_if_new, first_row, has_row
from pbmserv.store.shared_boxes.shared_boxes import (
    SELECT_BOARDS,
    SELECT_BOX,
    SOLVED,
    Box,
    SharedBoard,
)
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boxes import daily_tries, shared_boards, shared_boxes

MOST_DAYS = 400
"""Longest streak that is counted."""


def of_day(connection: Connection, game: str, day: int) -> Box | None:
    """Return a day's box, `None` if nobody has got it."""
    statement = SELECT_BOX.where(shared_boxes.c.game == game, shared_boxes.c.day == day)
    return first_row(connection, Box, statement)


def days(
    connection: Connection, game: str, upto: int, most: int
) -> list[tuple[int, tuple[str, ...], int, int]]:
    """Return the boxes of days up to *upto*, newest first.

    Returns:
        Day, option words, number of players who got it, and number of those who solved it.
    """
    newest = (
        SELECT_BOX.where(shared_boxes.c.game == game, shared_boxes.c.day <= upto)
        .order_by(shared_boxes.c.day.desc())
        .limit(most)
        .subquery()
    )
    solved = func.sum(case((shared_boards.c.rank == SOLVED, 1), else_=0))
    rows = connection.execute(
        select(newest.c.day, func.count(), solved)
        .join(shared_boards, shared_boards.c.box_id == newest.c.id)
        .group_by(newest.c.day)
    )
    counts = {row[0]: (row[1], int(row[2])) for row in rows}
    boxes = connection.execute(select(newest.c.day, newest.c.options).order_by(newest.c.day.desc()))
    return [(row[0], row[1], *counts[row[0]]) for row in boxes if row[0] in counts]


def boards_of_day(connection: Connection, game: str, day: int) -> dict[bool | None, int]:
    """Return the number of boards of a day by result: solved, not solved, or `None` (running)."""
    rows = connection.execute(
        select(shared_boards.c.rank, func.count())
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .where(shared_boxes.c.game == game, shared_boxes.c.day == day)
        .group_by(shared_boards.c.rank)
    )
    counts: dict[bool | None, int] = {}
    for rank, count in rows:
        result = None if rank is None else rank == SOLVED
        counts[result] = counts.get(result, 0) + count
    return counts


def neighbours(connection: Connection, game: str, day: int) -> tuple[int | None, int | None]:
    """Return the nearest days before and after on which somebody has got the box."""
    of_game = shared_boxes.c.game == game
    before = select(func.max(shared_boxes.c.day)).where(of_game, shared_boxes.c.day < day)
    after = select(func.min(shared_boxes.c.day)).where(of_game, shared_boxes.c.day > day)
    return connection.execute(before).scalar(), connection.execute(after).scalar()


def try_daily(connection: Connection, game: str, day: int, marks: Iterable[str]) -> bool:
    """Note that the owners of some mailboxes have got a day's box; return whether all are new.

    Notes of earlier days are deleted.

    Args:
        marks: keyed hashes of the mailboxes.
    """
    connection.execute(delete(daily_tries).where(daily_tries.c.day < day - 1))
    is_new = True
    for mark in marks:
        is_new &= add_if_new(connection, daily_tries, game=game, day=day, mark=mark)
    return is_new


def has_tried(
    connection: Connection,
    player_ids: Collection[int],
    marks: Collection[str],
    game: str,
    day: int,
) -> bool:
    """Return whether one of some players or mailboxes has got a day's box."""
    if first_try(connection, player_ids, game, day) is not None:
        return True
    of_day = (daily_tries.c.game == game, daily_tries.c.day == day)
    return has_row(connection, daily_tries, *of_day, daily_tries.c.mark.in_(marks))


def first_try(
    connection: Connection, player_ids: Collection[int], game: str, day: int
) -> int | None:
    """Return the first board of some players with a day's box, `None` if there is none."""
    return connection.execute(
        select(func.min(shared_boards.c.board_id))
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .where(
            shared_boards.c.player_id.in_(player_ids),
            shared_boxes.c.game == game,
            shared_boxes.c.day == day,
        )
    ).scalar()


def days_solved(connection: Connection, player_id: int, game: str, upto: int) -> list[int]:
    """Return the days whose box a player has solved, newest first."""
    rows = connection.execute(
        select(shared_boxes.c.day)
        .join(shared_boards, shared_boards.c.box_id == shared_boxes.c.id)
        .where(
            shared_boards.c.player_id == player_id,
            shared_boxes.c.game == game,
            shared_boxes.c.day <= upto,
            shared_boards.c.rank == SOLVED,
            shared_boards.c.counts,
        )
        .order_by(shared_boxes.c.day.desc())
        .limit(MOST_DAYS)
    )
    return list(rows.scalars())


def best_of_day(connection: Connection, game: str, day: int, most: int) -> list[SharedBoard]:
    """Return the best boards with a day's box, of players who are not deleted."""
    rows = connection.execute(
        SELECT_BOARDS.where(
            shared_boxes.c.game == game,
            shared_boxes.c.day == day,
            shared_boards.c.rank == SOLVED,
            shared_boards.c.counts,
            players.c.state != PlayerState.DELETED,
        )
        .order_by(shared_boards.c.score, players.c.userid)
        .limit(most)
    )
    return [SharedBoard(*row) for row in rows]


def dailies_between(connection: Connection, game: str, first: int, last: int) -> list[SharedBoard]:
    """Return the finished boards with boxes of some days, of players who are not deleted."""
    rows = connection.execute(
        SELECT_BOARDS.where(
            shared_boxes.c.game == game,
            shared_boxes.c.day.between(first, last),
            shared_boards.c.rank.is_not(None),
            shared_boards.c.counts,
            players.c.state != PlayerState.DELETED,
        ).order_by(shared_boxes.c.day, players.c.userid)
    )
    return [SharedBoard(*row) for row in rows]
