"""Rows of boxes that several players get, each on a board of their own: boxes of the day, and those
of duplicate events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import boards, seats
from pbmserv.store.tables.boxes import daily_tries, shared_boards, shared_boxes

EPOCH = date(1970, 1, 1)
"""Day 0 in the numbering of days; UTC."""

FIRST = date(2026, 1, 1)
"""The UTC day of daily box number 1."""

PLAYED, SOLVED, WRONG, GIVEN_UP = -1, 0, 1, 2
"""Ranks of results: a game with dice or deals was played to its end, the box was solved, the last
guess was wrong, or the player gave up or was too late."""

MOST_DAYS = 400
"""Longest streak that is counted."""


def number_of(day: int) -> int:
    """Return the number of a day's box."""
    return day - (FIRST - EPOCH).days + 1


def day_of_number(number: int) -> int:
    """Return the day of a box."""
    return number - 1 + (FIRST - EPOCH).days


def date_of(day: int) -> str:
    """Return a day in ISO 8601."""
    return f"{EPOCH + timedelta(days=day):%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Box:
    """A box that several players get, or a game against the house with the same dice or deals.

    Attributes:
        options: option words of its boards; those of a box are secret.
        day: the UTC day (days since 1970) of a box of the day; `None` for one of an event.
        event_id, number: the event, and the place of the box in it, from 1.
        seed: the secret seed of all its boards, if it decides dice or deals; `None` for a box.
    """

    id: int
    game: str
    options: tuple[str, ...]
    day: int | None
    event_id: int | None
    number: int | None
    seed: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SharedBoard:
    """A player of a shared box.

    Attributes:
        day, event_id, number: see `Box`.
        board_id: `None` before the player gets the board.
        rank, score: the result, where less is better; `None` while the player plays. The score of a
            game that was played to its end is below 0 if the player has won.
    """

    player_id: int
    userid: str
    box_id: int
    day: int | None
    event_id: int | None
    number: int | None
    board_id: int | None
    rank: int | None
    score: int | None

    @property
    def solved(self) -> bool:
        return self.rank == SOLVED

    @property
    def is_open(self) -> bool:
        """Whether the player has not finished the box."""
        return self.rank is None

    @property
    def daily_number(self) -> int:
        """The public number of a box of the day, 0 for other boxes."""
        return 0 if self.day is None else number_of(self.day)


@dataclass(frozen=True, slots=True)
class SeatAt:
    """A player's seat at a finished board; `ply` is the last one."""

    board: int
    ply: int
    seat: int


_BOX = select(*columns_of(Box, shared_boxes))
_BOARDS = (
    select(*columns_of(SharedBoard, shared_boards, shared_boxes, players))
    .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
    .join(players, players.c.id == shared_boards.c.player_id)
)
_OF_BOARD = _BOARDS.where(shared_boards.c.board_id == bindparam("board")).limit(1)


def _is_open(box_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a player of a box has not finished it."""
    own = shared_boards.alias()
    return exists(select(own.c.player_id).where(own.c.box_id == box_id, own.c.rank.is_(None)))


def is_secret(board_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a board's box belongs to an event in which it is still played."""
    mine, its_box = shared_boards.alias(), shared_boxes.alias()
    return exists(
        select(mine.c.box_id)
        .join(its_box, its_box.c.id == mine.c.box_id)
        .where(
            mine.c.board_id == board_id, its_box.c.event_id.is_not(None), _is_open(mine.c.box_id)
        )
    )


def _box(row: Any) -> Box:
    return replace(Box(*row), options=tuple(row.options))


# -- any box -----------------------------------------------------------------------------------


def add(
    connection: Connection,
    game: str,
    options: Sequence[str],
    *,
    day: int | None = None,
    event_id: int | None = None,
    number: int | None = None,
    seed: bytes | None = None,
) -> Box:
    """Return the box of a day, or the one with a number in an event; *options* and *seed* become it
    if there is none."""
    connection.execute(
        insert_into(connection, shared_boxes)
        .values(
            game=game,
            options=list(options),
            day=day,
            event_id=event_id,
            number=number,
            seed=seed,
        )
        .on_conflict_do_nothing()
    )
    place = (
        and_(shared_boxes.c.game == game, shared_boxes.c.day == day)
        if event_id is None
        else and_(shared_boxes.c.event_id == event_id, shared_boxes.c.number == number)
    )
    return _box(connection.execute(_BOX.where(place)).one())


def give(
    connection: Connection, box_id: int, player_ids: Sequence[int], board_id: int | None = None
) -> None:
    """Note that players get a box, on a board or on one that is made later."""
    rows = [
        {"box_id": box_id, "player_id": player_id, "board_id": board_id} for player_id in player_ids
    ]
    if rows:
        connection.execute(insert(shared_boards), rows)


def set_board(connection: Connection, box_id: int, player_id: int, board_id: int) -> None:
    """Note the board on which a player plays a box."""
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.box_id == box_id, shared_boards.c.player_id == player_id)
        .values(board_id=board_id)
    )


def of_board(connection: Connection, board_id: int) -> SharedBoard | None:
    """Return the shared box of a board, `None` if it has none."""
    row = connection.execute(_OF_BOARD, {"board": board_id}).first()
    return SharedBoard(*row) if row else None


def is_played(connection: Connection, box_id: int) -> bool:
    """Return whether a player of a box has not finished it."""
    return bool(connection.execute(select(_is_open(bindparam("box", box_id)))).scalar())


def settle(
    connection: Connection,
    box_id: int,
    player_id: int,
    rank: int,
    score: int,
    *,
    counts: bool = True,
) -> None:
    """Store the result of a player.

    Args:
        counts: it is the person's first try.
    """
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.box_id == box_id, shared_boards.c.player_id == player_id)
        .values(rank=rank, score=score, counts=counts)
    )


def give_up(connection: Connection, board_id: int) -> None:
    """Note that a board ends without a result, which is in no table of days."""
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.board_id == board_id, shared_boards.c.rank.is_(None))
        .values(rank=GIVEN_UP, score=0, counts=False)
    )


def move(connection: Connection, old: int, new: int) -> None:
    """Give one player's boxes to another, except those that both have got."""
    both = shared_boards.alias()
    has_both = select(both.c.box_id).where(
        both.c.player_id == new, both.c.box_id == shared_boards.c.box_id
    )
    connection.execute(
        update(shared_boards)
        .where(shared_boards.c.player_id == old, ~has_both.exists())
        .values(player_id=new)
    )


# -- boxes of an event -------------------------------------------------------------------------


def of_event(connection: Connection, event_id: int) -> list[Box]:
    """Return the boxes of an event in their order."""
    rows = connection.execute(
        _BOX.where(shared_boxes.c.event_id == event_id).order_by(shared_boxes.c.number)
    )
    return [_box(row) for row in rows]


def results(
    connection: Connection, event_id: int, player_id: int | None = None
) -> list[SharedBoard]:
    """Return the players of an event's boxes, or one of them, by box."""
    statement = _BOARDS.where(shared_boxes.c.event_id == event_id)
    if player_id is not None:
        statement = statement.where(shared_boards.c.player_id == player_id)
    statement = statement.order_by(shared_boxes.c.number, shared_boards.c.player_id)
    return [SharedBoard(*row) for row in connection.execute(statement)]


def without_board(connection: Connection, event_id: int, most: int) -> list[int]:
    """Return players of an event who have no boards yet, by id."""
    rows = connection.execute(
        select(shared_boards.c.player_id)
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .where(
            shared_boxes.c.event_id == event_id,
            shared_boards.c.board_id.is_(None),
            shared_boards.c.rank.is_(None),
        )
        .group_by(shared_boards.c.player_id)
        .order_by(shared_boards.c.player_id)
        .limit(most)
    )
    return list(rows.scalars())


def userids(connection: Connection, box_id: int, most: int) -> list[str]:
    """Return players of a box by name."""
    rows = connection.execute(
        select(players.c.userid)
        .join(shared_boards, shared_boards.c.player_id == players.c.id)
        .where(shared_boards.c.box_id == box_id)
        .order_by(players.c.userid)
        .limit(most)
    )
    return list(rows.scalars())


def count_players(connection: Connection, box_id: int) -> int:
    """Return the number of players of a box."""
    statement = select(func.count()).where(shared_boards.c.box_id == box_id)
    number: int = connection.execute(statement).scalar_one()
    return number


def unfinished(connection: Connection, event_id: int, most: int) -> list[SharedBoard]:
    """Return boards of an event that somebody still plays."""
    rows = connection.execute(
        _BOARDS.where(shared_boxes.c.event_id == event_id, shared_boards.c.rank.is_(None))
        .order_by(shared_boards.c.player_id, shared_boxes.c.number)
        .limit(most)
    )
    return [SharedBoard(*row) for row in rows]


def given_up_since(
    connection: Connection, event_id: int, player_ids: Collection[int], since: datetime
) -> dict[int, list[SeatAt]]:
    """Return the boards of an event that players gave up from a moment on, by player and box."""
    rows = connection.execute(
        select(shared_boards.c.player_id, boards.c.id, boards.c.plies, seats.c.seat)
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .join(boards, boards.c.id == shared_boards.c.board_id)
        .join(
            seats,
            and_(seats.c.board_id == boards.c.id, seats.c.player_id == shared_boards.c.player_id),
        )
        .where(
            shared_boxes.c.event_id == event_id,
            shared_boards.c.player_id.in_(player_ids),
            shared_boards.c.rank == GIVEN_UP,
            boards.c.finished_at >= since,
        )
        .order_by(shared_boxes.c.number)
    )
    by_player: dict[int, list[SeatAt]] = {}
    for player_id, *place in rows:
        by_player.setdefault(player_id, []).append(SeatAt(*place))
    return by_player


def all_finished(event_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that an event has boxes and all its players have finished them."""
    any_box, open_box = shared_boxes.alias(), shared_boxes.alias()
    return and_(
        exists(select(any_box.c.id).where(any_box.c.event_id == event_id)),
        ~exists(
            select(open_box.c.id).where(open_box.c.event_id == event_id, _is_open(open_box.c.id))
        ),
    )


# -- boxes of the day --------------------------------------------------------------------------


def of_day(connection: Connection, game: str, day: int) -> Box | None:
    """Return a day's box, `None` if nobody has got it."""
    row = connection.execute(
        _BOX.where(shared_boxes.c.game == game, shared_boxes.c.day == day)
    ).first()
    return None if row is None else _box(row)


def days(
    connection: Connection, game: str, upto: int, most: int
) -> list[tuple[int, tuple[str, ...], int, int]]:
    """Return the boxes of days up to *upto*, newest first.

    Returns:
        Day, option words, number of players who got it, and number of those who solved it.
    """
    newest = (
        _BOX.where(shared_boxes.c.game == game, shared_boxes.c.day <= upto)
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
    return [(row[0], tuple(row[1]), *counts[row[0]]) for row in boxes if row[0] in counts]


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
        added = connection.execute(
            insert_into(connection, daily_tries)
            .values(game=game, day=day, mark=mark)
            .on_conflict_do_nothing()
            .returning(daily_tries.c.mark)
        )
        is_new &= added.first() is not None
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
    by_mailbox = select(daily_tries.c.mark).where(
        daily_tries.c.game == game, daily_tries.c.day == day, daily_tries.c.mark.in_(marks)
    )
    return connection.execute(by_mailbox.limit(1)).first() is not None


def first_try(
    connection: Connection, player_ids: Collection[int], game: str, day: int
) -> int | None:
    """Return the first board of some players with a day's box, `None` if there is none."""
    first: int | None = connection.execute(
        select(func.min(shared_boards.c.board_id))
        .join(shared_boxes, shared_boxes.c.id == shared_boards.c.box_id)
        .where(
            shared_boards.c.player_id.in_(player_ids),
            shared_boxes.c.game == game,
            shared_boxes.c.day == day,
        )
    ).scalar()
    return first


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
        _BOARDS.where(
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
        _BOARDS.where(
            shared_boxes.c.game == game,
            shared_boxes.c.day.between(first, last),
            shared_boards.c.rank.is_not(None),
            shared_boards.c.counts,
            players.c.state != PlayerState.DELETED,
        ).order_by(shared_boxes.c.day, players.c.userid)
    )
    return [SharedBoard(*row) for row in rows]
