"""Rows of games that operators have closed: no new boards of them are created."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, insert, select

from pbmserv.store.core.statements import delete_rows, has_row
from pbmserv.store.tables.operators import closed_games


def closed_since(connection: Connection) -> dict[str, datetime]:
    """Return the time at which each closed game was closed."""
    rows = connection.execute(select(closed_games.c.game, closed_games.c.closed_at))
    return {row.game: row.closed_at for row in rows}


def is_closed(connection: Connection, game: str) -> bool:
    """Return whether a game is closed."""
    return has_row(connection, closed_games, closed_games.c.game == game)


def close(connection: Connection, game: str, now: datetime) -> None:
    """Close a game."""
    connection.execute(insert(closed_games).values(game=game, closed_at=now))


def reopen(connection: Connection, game: str) -> None:
    """Open a closed game again."""
    delete_rows(connection, closed_games, game=game)
