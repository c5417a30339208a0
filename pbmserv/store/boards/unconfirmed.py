"""Rows of boards that somebody asked for in a player's name, and that wait for the player's yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from pbmserv.engine.clocks import Terms
from pbmserv.store.tables import unconfirmed_boards


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A board that waits for a yes.

    Attributes:
        options: canonical words.
        sitting: ids of its players, by seat.
        replayed: the board whose box it is to have, if it is to be a copy.
        board_id: the board that was made of it; ``None`` = it still waits.
    """

    player_id: int
    game: str
    options: tuple[str, ...]
    sitting: tuple[int, ...]
    terms: Terms
    replayed: int | None
    created_at: datetime
    board_id: int | None = None


def add(connection: Connection, one: Unconfirmed) -> int:
    """Keep it; its number."""
    terms = one.terms
    number: int = connection.execute(
        insert(unconfirmed_boards)
        .values(
            player_id=one.player_id,
            game=one.game,
            options=list(one.options),
            sitting=list(one.sitting),
            terms=[terms.nag, terms.forfeit, terms.total],
            replayed=one.replayed,
            created_at=one.created_at,
        )
        .returning(unconfirmed_boards.c.id)
    ).scalar_one()
    return number


def locked(connection: Connection, number: int) -> Unconfirmed | None:
    """The row, which nobody else can answer until this transaction ends."""
    table = unconfirmed_boards.c
    row = connection.execute(
        select(
            table.player_id,
            table.game,
            table.options,
            table.sitting,
            table.terms,
            table.replayed,
            table.created_at,
            table.board_id,
        )
        .where(table.id == number)
        .with_for_update()
    ).first()
    if row is None:
        return None
    player_id, game, options, sitting, terms, replayed, created_at, board_id = row
    words, seats = tuple(options), tuple(sitting)
    return Unconfirmed(player_id, game, words, seats, Terms(*terms), replayed, created_at, board_id)


def begun(connection: Connection, number: int, board_id: int) -> None:
    """Note the board that was made of it."""
    connection.execute(
        update(unconfirmed_boards)
        .where(unconfirmed_boards.c.id == number)
        .values(board_id=board_id)
    )


def drop(connection: Connection, number: int) -> None:
    """Its player does not want it."""
    connection.execute(delete(unconfirmed_boards).where(unconfirmed_boards.c.id == number))


def before(connection: Connection, moment: datetime, most: int) -> Sequence[int]:
    """Numbers of rows that are older than *moment*."""
    statement = (
        select(unconfirmed_boards.c.id)
        .where(unconfirmed_boards.c.created_at < moment)
        .order_by(unconfirmed_boards.c.created_at)
        .limit(most)
    )
    return list(connection.execute(statement).scalars())


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove rows."""
    connection.execute(delete(unconfirmed_boards).where(unconfirmed_boards.c.id.in_(numbers)))
