"""All rated boards and all that is remembered of ratings, gone through from the first to the last.

For the operator's rebuild; it takes memory with the number of players and of pairs
who met, not of boards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, delete, insert, select, text

from pbmserv.store.ratings.ratings import BATCH, CHANGE, Change, Rated, change_of, log, row_of
from pbmserv.store.tables import boards, rating_changes, ratings, seats


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
        boards.c.status == "finished",
        boards.c.rated,
        boards.c.finished_at.is_not(None),
        ~select(_never_agreed.c.seat)
        .where(_never_agreed.c.board_id == boards.c.id, _never_agreed.c.accepted_at.is_(None))
        .exists(),
    )
    .order_by(boards.c.finished_at, boards.c.id, seats.c.seat)
)
_ALL = select(ratings)
_ALL_CHANGES = select(*CHANGE).order_by(
    rating_changes.c.created_at, rating_changes.c.board_id, rating_changes.c.player_id
)
_STREAMED = {"yield_per": BATCH}


def freeze(connection: Connection) -> None:
    """Nobody rates a board until this transaction ends (on SQLite nobody writes anyhow)."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE ratings IN EXCLUSIVE MODE"))


def ended_boards(connection: Connection) -> Iterator[EndedBoard]:
    """Every rated board that is over, in the order in which they were rated."""
    streamed = connection.execute(_ENDED, execution_options=_STREAMED)
    board: EndedBoard | None = None
    for board_id, game, outcome, ended_at, player_id in streamed:
        if board is not None and board.id == board_id:
            board = EndedBoard(
                board.id, board.game, (*board.player_ids, player_id), board.places, board.ended_at
            )
            continue
        if board is not None:
            yield board
        board = EndedBoard(board_id, game, (player_id,), tuple(outcome["places"]), ended_at)
    if board is not None:
        yield board


def all_rows(connection: Connection) -> dict[tuple[str, int], dict[str, object]]:
    """Every row of ratings, by game and player; `ratings.row_of` makes the same of a standing."""
    found = connection.execute(_ALL).mappings()
    return {(row["game"], row["player_id"]): dict(row) for row in found}


def all_changes(connection: Connection) -> Iterator[Change]:
    """Every change, in the order in which the boards were rated, then by player."""
    for row in connection.execute(_ALL_CHANGES, execution_options=_STREAMED):
        yield change_of(row)


def replace(
    connection: Connection,
    changes: Iterable[Change],
    standings: Mapping[tuple[str, int], Rated],
) -> None:
    """Put these in the place of all that is there.

    *changes* may be an iterator that fills *standings* while it runs.
    """
    connection.execute(delete(rating_changes))
    connection.execute(delete(ratings))
    log(connection, changes)
    waiting = iter(sorted(standings))
    while batch := list(islice(waiting, BATCH)):
        connection.execute(insert(ratings), [row_of(key[0], standings[key]) for key in batch])
