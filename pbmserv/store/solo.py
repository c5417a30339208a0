"""Rows of solo play: scores of races, and boxes of the day."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update

from pbmserv.engine.types import Seat
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import (
    RUNNING,
    daily_boards,
    daily_boxes,
    daily_readers,
    daily_tries,
    scores,
)

EPOCH = date(1970, 1, 1)
"""Day 0 in the numbering of days; UTC."""

FIRST = date(2026, 1, 1)
"""The UTC day of box number 1."""


def number_of(day: int) -> int:
    """Return the number of a day's box."""
    return day - (FIRST - EPOCH).days + 1


def day_of_number(number: int) -> int:
    """Return the day of a box."""
    return number - 1 + (FIRST - EPOCH).days


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


MOST_DAYS = 400
"""Longest streak that is counted."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A player's subscription to a game's box of the day."""

    player_id: int
    game: str
    minute: int
    due_at: datetime


@dataclass(frozen=True, slots=True)
class DayBoard:
    """A player's board with a box of the day; `solved` and `score` are `None` while it runs."""

    player_id: int
    userid: str
    day: int
    board_id: int
    solved: bool | None
    score: int | None

    @property
    def number(self) -> int:
        """Return the public number of the day's box."""
        return number_of(self.day)


_DUE = (
    select(daily_readers.c.player_id)
    .where(daily_readers.c.due_at <= bindparam("now"))
    .order_by(daily_readers.c.due_at)
    .limit(bindparam("most"))
)
_MINE = (
    select(*columns_of(Reader, daily_readers))
    .where(
        daily_readers.c.player_id == bindparam("player"), daily_readers.c.due_at <= bindparam("now")
    )
    .order_by(daily_readers.c.game)
    .with_for_update(skip_locked=True)
)
_BOARDS = select(*columns_of(DayBoard, daily_boards, players)).join(
    players, players.c.id == daily_boards.c.player_id
)


def due_dailies(connection: Connection, now: datetime, most: int) -> Sequence[int]:
    """Return players whose box of the day is due."""
    rows = connection.execute(_DUE, {"now": now, "most": most}).scalars()
    return list(dict.fromkeys(rows))


def claim_dailies(connection: Connection, player_id: int, now: datetime) -> list[Reader]:
    """Return and lock a player's due subscriptions; none if another process has them."""
    rows = connection.execute(_MINE, {"player": player_id, "now": now})
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
    connection.execute(
        insert(daily_readers).values(
            player_id=reader.player_id,
            game=reader.game,
            minute=reader.minute,
            due_at=reader.due_at,
        )
    )


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


def daily_box(connection: Connection, game: str, day: int, fresh: Sequence[str]) -> tuple[str, ...]:
    """Return the option words of a day's box; *fresh* becomes the box if there is none."""
    connection.execute(
        insert_into(connection, daily_boxes)
        .values(game=game, day=day, options=list(fresh))
        .on_conflict_do_nothing()
    )
    statement = select(daily_boxes.c.options).where(
        daily_boxes.c.game == game, daily_boxes.c.day == day
    )
    return tuple(connection.execute(statement).scalar_one())


def days(
    connection: Connection, game: str, upto: int, most: int
) -> list[tuple[int, tuple[str, ...], int, int]]:
    """Return the boxes of days up to *upto*, newest first.

    Returns:
        Day, option words, number of players who got it, and number of those who solved it.
    """
    solved = func.sum(case((daily_boards.c.solved.is_(True), 1), else_=0))
    counts = (
        select(daily_boards.c.day, func.count().label("got"), solved.label("solved"))
        .where(daily_boards.c.game == game, daily_boards.c.day <= upto)
        .group_by(daily_boards.c.day)
        .order_by(daily_boards.c.day.desc())
        .limit(most)
        .subquery()
    )
    rows = connection.execute(
        select(counts.c.day, daily_boxes.c.options, counts.c.got, counts.c.solved)
        .join(daily_boxes, daily_boxes.c.day == counts.c.day)
        .where(daily_boxes.c.game == game)
        .order_by(counts.c.day.desc())
    )
    return [(row[0], tuple(row[1]), row[2], int(row[3])) for row in rows]


def boards_of_day(connection: Connection, game: str, day: int) -> dict[bool | None, int]:
    """Return the number of boards of a day by result: solved, not solved, or `None` (running)."""
    rows = connection.execute(
        select(daily_boards.c.solved, func.count())
        .where(daily_boards.c.game == game, daily_boards.c.day == day)
        .group_by(daily_boards.c.solved)
    )
    return {row[0]: row[1] for row in rows}


def neighbours(connection: Connection, game: str, day: int) -> tuple[int | None, int | None]:
    """Return the nearest days before and after on which somebody has got the box."""
    of_game = daily_boards.c.game == game
    before = select(func.max(daily_boards.c.day)).where(of_game, daily_boards.c.day < day)
    after = select(func.min(daily_boards.c.day)).where(of_game, daily_boards.c.day > day)
    return connection.execute(before).scalar(), connection.execute(after).scalar()


def box_of(connection: Connection, game: str, day: int) -> tuple[str, ...] | None:
    """Return the option words of a day's box, which are secret; `None` if nobody has got it."""
    statement = select(daily_boxes.c.options).where(
        daily_boxes.c.game == game, daily_boxes.c.day == day
    )
    options = connection.execute(statement).scalar()
    return None if options is None else tuple(options)


def has_daily(connection: Connection, player_id: int, game: str, day: int) -> bool:
    """Return whether a player has got a day's box."""
    statement = select(daily_boards.c.board_id).where(
        daily_boards.c.player_id == player_id,
        daily_boards.c.game == game,
        daily_boards.c.day == day,
    )
    return connection.execute(statement).first() is not None


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
    by_name = select(daily_boards.c.board_id).where(
        daily_boards.c.player_id.in_(player_ids),
        daily_boards.c.game == game,
        daily_boards.c.day == day,
    )
    by_mailbox = select(daily_tries.c.mark).where(
        daily_tries.c.game == game, daily_tries.c.day == day, daily_tries.c.mark.in_(marks)
    )
    return any(
        connection.execute(statement.limit(1)).first() is not None
        for statement in (by_name, by_mailbox)
    )


def first_try(
    connection: Connection, player_ids: Collection[int], game: str, day: int
) -> int | None:
    """Return the first board of some players with a day's box, `None` if there is none."""
    return connection.execute(
        select(func.min(daily_boards.c.board_id)).where(
            daily_boards.c.player_id.in_(player_ids),
            daily_boards.c.game == game,
            daily_boards.c.day == day,
        )
    ).scalar()


def give_daily(connection: Connection, player_id: int, game: str, day: int, board_id: int) -> None:
    """Note that a player has got a day's box."""
    connection.execute(
        insert(daily_boards).values(player_id=player_id, game=game, day=day, board_id=board_id)
    )


def daily_of_board(connection: Connection, board_id: int) -> DayBoard | None:
    """Return the box of the day of a board, `None` if it has none."""
    row = connection.execute(_BOARDS.where(daily_boards.c.board_id == board_id)).first()
    return DayBoard(*row) if row else None


def still_run(connection: Connection, game: str, day: int) -> bool:
    """Return whether a board with a day's box is running."""
    statement = (
        select(daily_boards.c.board_id)
        .join(boards, boards.c.id == daily_boards.c.board_id)
        .where(
            daily_boards.c.game == game,
            daily_boards.c.day == day,
            boards.c.status.in_(RUNNING),
        )
        .limit(1)
    )
    return connection.execute(statement).first() is not None


def settle_daily(
    connection: Connection, board_id: int, *, solved: bool, score: int | None, counts: bool
) -> None:
    """Store the result of a board with a day's box, and whether it was the player's first try."""
    connection.execute(
        update(daily_boards)
        .where(daily_boards.c.board_id == board_id)
        .values(solved=solved, score=score, counts=counts)
    )


def days_solved(connection: Connection, player_id: int, game: str, upto: int) -> list[int]:
    """Return the days whose box a player has solved, newest first."""
    rows = connection.execute(
        select(daily_boards.c.day)
        .where(
            daily_boards.c.player_id == player_id,
            daily_boards.c.game == game,
            daily_boards.c.day <= upto,
            daily_boards.c.solved,
            daily_boards.c.counts,
        )
        .order_by(daily_boards.c.day.desc())
        .limit(MOST_DAYS)
    )
    return list(rows.scalars())


def best_of_day(connection: Connection, game: str, day: int, most: int) -> list[DayBoard]:
    """Return the best boards with a day's box, of players who are not deleted."""
    rows = connection.execute(
        _BOARDS.where(
            daily_boards.c.game == game,
            daily_boards.c.day == day,
            daily_boards.c.solved.is_(True),
            daily_boards.c.counts,
            players.c.state != PlayerState.DELETED,
        )
        .order_by(daily_boards.c.score, players.c.userid)
        .limit(most)
    )
    return [DayBoard(*row) for row in rows]


def dailies_between(connection: Connection, game: str, first: int, last: int) -> list[DayBoard]:
    """Return the finished boards with boxes of some days, of players who are not deleted."""
    rows = connection.execute(
        _BOARDS.where(
            daily_boards.c.game == game,
            daily_boards.c.day.between(first, last),
            daily_boards.c.solved.is_not(None),
            daily_boards.c.counts,
            players.c.state != PlayerState.DELETED,
        ).order_by(daily_boards.c.day, players.c.userid)
    )
    return [DayBoard(*row) for row in rows]
