"""Rows of boards by player, which tell a player's boards without asking each board.

They copy columns of `boards` and `seats`. Functions that change these call `refresh`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.store.core.prepared import Prepared
from pbmserv.store.tables.boards import BoardStatus, boards, player_boards, seats

_COPIED = ("game", "seats", "status", "proven")
_ROWS = Prepared(
    select(
        seats.c.player_id,
        boards.c.id,
        *(boards.c[name] for name in _COPIED),
        (func.count(seats.c.accepted_at) > 0).label("accepted"),
    )
    .join(seats, seats.c.board_id == boards.c.id)
    .where(boards.c.id == bindparam("board"))
    .group_by(seats.c.player_id, boards.c.id)
    .order_by(seats.c.player_id)
)
_EARLIER = Prepared(
    select(player_boards.c.board_id)
    .where(
        player_boards.c.player_id == bindparam("player"),
        player_boards.c.game == bindparam("game"),
        player_boards.c.board_id < bindparam("board"),
    )
    .order_by(player_boards.c.board_id.desc())
    .limit(bindparam("most"))
)
_NAMES = ("player_id", "board_id", *_COPIED, "accepted")
_KEY = ("player_id", "board_id")


def _upsert(new: postgresql.Insert | sqlite.Insert) -> Prepared:
    changed = {name: new.excluded[name] for name in ("status", "accepted")}
    return Prepared(new.on_conflict_do_update(index_elements=_KEY, set_=changed), _NAMES)


_KEEP = {
    "sqlite": _upsert(sqlite.insert(player_boards)),
    "postgresql": _upsert(postgresql.insert(player_boards)),
}


def refresh(connection: Connection, board_id: int) -> None:
    """Copy the state of a board to the rows of its players."""
    rows = _ROWS.run(connection, {"board": board_id})
    if rows:
        values = [dict(zip(_NAMES, row, strict=True)) for row in rows]
        _KEEP[connection.dialect.name].run(connection, *values)


def remove(connection: Connection, player_id: int, board_id: int | None = None) -> None:
    """Remove the rows of a player who lost the seats at a board, or at all boards."""
    statement = delete(player_boards).where(player_boards.c.player_id == player_id)
    if board_id is not None:
        statement = statement.where(player_boards.c.board_id == board_id)
    connection.execute(statement)


def of_player(
    connection: Connection,
    player_id: int,
    statuses: Sequence[str] = tuple(BoardStatus),
    *,
    accepted: bool | None = None,
    proven: bool | None = None,
    game: str | None = None,
    alone: bool = False,
    among: Collection[int] | None = None,
    most: int | None = None,
) -> list[int]:
    """Return the numbers of a player's boards, newest first.

    Args:
        accepted: boards that the player has accepted, or has not; `None` for both.
        proven: boards that somebody provably asked for, or those without proof; `None` for both.
        game: boards of this game.
        alone: boards with one seat only.
        among: boards with these numbers.
        most: largest number of boards.
    """
    row = player_boards.c
    statement = select(row.board_id).where(row.player_id == player_id, row.status.in_(statuses))
    if accepted is not None:
        statement = statement.where(row.accepted == accepted)
    if proven is not None:
        statement = statement.where(row.proven == proven)
    if game is not None:
        statement = statement.where(row.game == game)
    if alone:
        statement = statement.where(row.seats == 1)
    if among is not None:
        statement = statement.where(row.board_id.in_(among))
    statement = statement.order_by(row.board_id.desc()).limit(most)
    return list(connection.execute(statement).scalars())


def earlier(
    connection: Connection, player_id: int, game: str, board_id: int, most: int
) -> list[int]:
    """Return the numbers of a player's boards of a game before a board, newest first.

    Letters ask this often, so the statement is prepared.
    """
    values = {"player": player_id, "game": game, "board": board_id, "most": most}
    return [row[0] for row in _EARLIER.run(connection, values)]
