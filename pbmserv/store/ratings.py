"""Rows of ratings, which are a cache, and of the changes that each rated board made.

Boards are rated in the order of ``boards.finished_at``, then of their numbers. That time always
grows for the boards of one player (see `next_moment`), so a rebuild uses the same order and
computes the same numbers. A rebuild reads all boards as a stream: its memory grows with the number
of players and of pairs who met, not with the number of boards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, text

from pbmserv.engine.ratings import OPPONENTS, UNRATED, WINDOW, Past, Rating, Standing
from pbmserv.store.core.statements import add_if_new, change_rows, columns_of
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import BoardStatus, boards, seats
from pbmserv.store.tables.ratings import rating_changes, ratings

INSTANT = timedelta(microseconds=1)
"""Shortest difference of times that both databases store."""

_ANY = 2**31 - 1
"""A number of opponents that nobody reaches."""

BATCH = 1000
"""Rows read or written at a time during a rebuild."""


@dataclass(frozen=True, slots=True)
class Rated:
    """A player's standing at one game.

    Attributes:
        rated_at: end of the player's last rated board.
    """

    player_id: int
    standing: Standing
    rated_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a player's rating by one board.

    Attributes:
        number: number of the player's rated board of this game, from 1.
        place: the player's place, 1 is the best.
        weight: share of the change that counted, 1 = all of it.
    """

    board_id: int
    player_id: int
    game: str
    number: int
    place: int
    mu_before: float
    sigma_before: float
    mu_after: float
    sigma_after: float
    weight: float
    created_at: datetime

    @property
    def before(self) -> Rating:
        return Rating(self.mu_before, self.sigma_before)

    @property
    def after(self) -> Rating:
        return Rating(self.mu_after, self.sigma_after)


@dataclass(frozen=True, slots=True)
class Line:
    """A line in a table of the best players."""

    userid: str
    standing: Standing
    player_id: int


STANDING = (
    ratings.c.mu,
    ratings.c.sigma,
    ratings.c.wins,
    ratings.c.losses,
    ratings.c.draws,
    ratings.c.opponents,
)
_LOCKED = (
    select(ratings.c.player_id, *STANDING, ratings.c.rated_at)
    .where(
        ratings.c.game == bindparam("of_game"),
        ratings.c.player_id.in_(bindparam("ids", expanding=True)),
    )
    .order_by(ratings.c.player_id)
    .with_for_update()  # ignored by SQLite, which has one writer
)
_ADD_CHANGE = insert(rating_changes)
BEST = (
    select(players.c.userid, players.c.id, *STANDING)
    .select_from(ratings.join(players, players.c.id == ratings.c.player_id))
    .where(
        ratings.c.game == bindparam("of_game"),
        players.c.state != PlayerState.DELETED,
        players.c.state != PlayerState.BOT,
        ratings.c.opponents.between(bindparam("least"), bindparam("greatest")),
    )
    .order_by(ratings.c.ordinal.desc(), ratings.c.player_id.desc())
    .limit(bindparam("most"))
)
"""The best human players with a number of opponents in a range, read from the end of the index."""

_ONE = select(ratings.c.player_id, *STANDING, ratings.c.rated_at).where(
    ratings.c.game == bindparam("of_game"), ratings.c.player_id == bindparam("of_player")
)
_CHANGE = columns_of(Change, rating_changes)
LAST_CHANGES = (
    select(*_CHANGE)
    .where(
        rating_changes.c.player_id == bindparam("of_player"),
        rating_changes.c.game == bindparam("of_game"),
    )
    .order_by(rating_changes.c.number.desc())
    .limit(bindparam("most"))
)
"""A player's newest changes, read from the end of the index."""

_mine, _theirs = rating_changes.alias("mine"), rating_changes.alias("theirs")
_PASTS = (
    select(
        _mine.c.player_id,
        _theirs.c.player_id,
        func.sum(case((_mine.c.created_at > bindparam("since"), 1), else_=0)),
    )
    .join(_theirs, _theirs.c.board_id == _mine.c.board_id)
    .where(
        _mine.c.game == bindparam("of_game"),
        _mine.c.player_id.in_(bindparam("ids", expanding=True)),
        _theirs.c.player_id.in_(bindparam("ids", expanding=True)),
        _mine.c.player_id < _theirs.c.player_id,
    )
    .group_by(_mine.c.player_id, _theirs.c.player_id)
)
_OF_BOARDS = (
    select(*_CHANGE)
    .where(rating_changes.c.board_id.in_(bindparam("ids", expanding=True)))
    .order_by(rating_changes.c.board_id, rating_changes.c.player_id)
)


def lock(
    connection: Connection, game: str, player_ids: Sequence[int], now: datetime
) -> dict[int, Rated]:
    """Return the standings of some players and lock them until the end of the transaction.

    New players get a row. Rows are locked in the order of player ids, so that two boards of the
    same players cannot deadlock.
    """
    ids = sorted(player_ids)
    for player_id in ids:
        add_if_new(connection, ratings, **row_of(game, Rated(player_id, UNRATED, now)))
    rows = connection.execute(_LOCKED, {"of_game": game, "ids": ids})
    return {row.player_id: _rated(row) for row in rows}


def pasts(
    connection: Connection, game: str, player_ids: Sequence[int], at: datetime
) -> dict[tuple[int, int], Past]:
    """Return the earlier games of a board's players with each other, by pairs of seats.

    Args:
        player_ids: players by seat.
        at: end of the board.
    """
    seat_of = {player_id: seat for seat, player_id in enumerate(player_ids)}
    values = {"of_game": game, "ids": list(player_ids), "since": at - WINDOW}
    result = {}
    for first, second, recent_games in connection.execute(_PASTS, values):
        low, high = sorted((seat_of[first], seat_of[second]))
        result[low, high] = Past(int(recent_games), met=True)
    return result


def next_moment(before: Iterable[Rated], now: datetime) -> datetime:
    """Return *now*, or the moment after the last rated board of these players if that is later."""
    last = [rated.rated_at + INSTANT for rated in before if rated.standing.games]
    return max([now, *last])


def settle(connection: Connection, game: str, after: Sequence[Rated]) -> None:
    """Write new standings into locked rows."""
    for rated in after:
        values = row_of(game, rated)
        key = {name: values.pop(name) for name in ("game", "player_id")}
        change_rows(connection, ratings, key, **values)


def log(connection: Connection, changes: Iterable[Change]) -> None:
    """Store changes of ratings."""
    remaining = iter(changes)
    while batch := list(islice(remaining, BATCH)):
        connection.execute(_ADD_CHANGE, [asdict(change) for change in batch])


def best(connection: Connection, game: str, most: int) -> list[Line]:
    """Return the best players of a game who have a place, without deleted ones."""
    return _table(connection, game, most, OPPONENTS, _ANY)


def without_place(connection: Connection, game: str, most: int) -> list[Line]:
    """Return the best players who have met too few opponents for a place."""
    return _table(connection, game, most, 0, OPPONENTS - 1)


def _table(connection: Connection, game: str, most: int, least: int, greatest: int) -> list[Line]:
    rows = connection.execute(
        BEST, {"of_game": game, "most": most, "least": least, "greatest": greatest}
    )
    return [Line(row.userid, _standing(row), row.id) for row in rows]


def of_player(connection: Connection, game: str, player_id: int) -> Rated | None:
    """Return a player's standing at a game, `None` before the first rated board."""
    row = connection.execute(_ONE, {"of_game": game, "of_player": player_id}).first()
    return _rated(row) if row else None


def last_changes(connection: Connection, game: str, player_id: int, most: int) -> list[Change]:
    """Return a player's newest changes at a game, newest first."""
    rows = connection.execute(LAST_CHANGES, {"of_game": game, "of_player": player_id, "most": most})
    return [Change(*row) for row in rows]


def of_boards(connection: Connection, board_ids: Sequence[int]) -> dict[int, list[Change]]:
    """Return the changes that some boards made, by board."""
    changes: dict[int, list[Change]] = {}
    for row in connection.execute(_OF_BOARDS, {"ids": list(board_ids)}):
        change = Change(*row)
        changes.setdefault(change.board_id, []).append(change)
    return changes


def row_of(game: str, rated: Rated) -> dict[str, object]:
    """Return the row of a standing."""
    standing = rated.standing
    return {
        "game": game,
        "player_id": rated.player_id,
        "mu": standing.rating.mu,
        "sigma": standing.rating.sigma,
        "ordinal": standing.rating.ordinal,
        "games": standing.games,
        "wins": standing.wins,
        "losses": standing.losses,
        "draws": standing.draws,
        "opponents": standing.opponents,
        "rated_at": rated.rated_at,
    }


def _rated(row: Any) -> Rated:
    return Rated(row.player_id, _standing(row), row.rated_at)


def _standing(row: Any) -> Standing:
    """Return a standing from the columns `STANDING`."""
    rating = Rating(row.mu, row.sigma)
    return Standing(rating, row.wins, row.losses, row.draws, row.opponents)


@dataclass(frozen=True, slots=True)
class EndedBoard:
    """A rated board that is over; `places` and `player_ids` by seat."""

    id: int
    game: str
    player_ids: tuple[int, ...]
    places: tuple[int, ...]
    ended_at: datetime


_never_agreed = seats.alias("never_agreed")
_ENDED = (
    select(
        boards.c.id,
        boards.c.game,
        boards.c.outcome,
        boards.c.finished_at,
        seats.c.player_id,
    )
    .join(seats, seats.c.board_id == boards.c.id)
    .where(
        boards.c.status == BoardStatus.FINISHED,
        boards.c.rated,
        boards.c.finished_at.is_not(None),
        ~select(_never_agreed.c.seat)
        .where(_never_agreed.c.board_id == boards.c.id, _never_agreed.c.accepted_at.is_(None))
        .exists(),
    )
    .order_by(boards.c.finished_at, boards.c.id, seats.c.seat)
)
_ALL = select(ratings)
_ALL_CHANGES = select(*_CHANGE).order_by(
    rating_changes.c.created_at, rating_changes.c.board_id, rating_changes.c.player_id
)
_STREAMED = {"yield_per": BATCH}


def freeze(connection: Connection) -> None:
    """Let nobody else rate boards until the end of the transaction; SQLite has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE ratings IN EXCLUSIVE MODE"))


def ended_boards(connection: Connection) -> Iterator[EndedBoard]:
    """Yield every rated board that is over, in the order in which they were rated."""
    rows = connection.execute(_ENDED, execution_options=_STREAMED)
    for board_id, seats_of_board in groupby(rows, key=lambda row: row.id):
        sitting = list(seats_of_board)
        board = sitting[0]
        yield EndedBoard(
            id=board_id,
            game=board.game,
            player_ids=tuple(row.player_id for row in sitting),
            places=tuple(board.outcome["places"]),
            ended_at=board.finished_at,
        )


def all_rows(connection: Connection) -> dict[tuple[str, int], dict[str, object]]:
    """Return every row of ratings by game and player, in the form of `row_of`."""
    rows = connection.execute(_ALL).mappings()
    return {(row["game"], row["player_id"]): dict(row) for row in rows}


def all_changes(connection: Connection) -> Iterator[Change]:
    """Yield every change, in the order in which the boards were rated, then by player."""
    for row in connection.execute(_ALL_CHANGES, execution_options=_STREAMED):
        yield Change(*row)


def replace(
    connection: Connection,
    changes: Iterable[Change],
    standings: Mapping[tuple[str, int], Rated],
) -> None:
    """Replace all rows.

    Args:
        changes: may be an iterator that fills *standings* while it runs.
    """
    connection.execute(delete(rating_changes))
    connection.execute(delete(ratings))
    log(connection, changes)
    remaining = iter(sorted(standings))
    while batch := list(islice(remaining, BATCH)):
        connection.execute(insert(ratings), [row_of(key[0], standings[key]) for key in batch])
