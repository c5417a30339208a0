"""Rows of players who follow boards."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import columns_of, count_rows, delete_rows, put_row
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import followers


@dataclass(frozen=True, slots=True)
class Follower:
    """A player who follows a board: every turn (*what* is ``all``) or its end (``end``)."""

    player_id: int
    address: str
    what: str


_FOLLOWERS = Prepared(
    select(*columns_of(Follower, followers, players))
    .join(players, players.c.id == followers.c.player_id)
    .where(followers.c.board_id == bindparam("board"), players.c.state == PlayerState.ACTIVE)
    .order_by(followers.c.player_id)
)
_FOLLOWED = (
    select(followers.c.board_id, followers.c.what)
    .where(followers.c.player_id == bindparam("player"))
    .order_by(followers.c.board_id.desc())
)


def of_board(connection: Connection, board_id: int) -> list[Follower]:
    """Return the active followers of a board."""
    return [Follower(*row) for row in _FOLLOWERS.run(connection, {"board": board_id})]


def boards_of(connection: Connection, player_id: int) -> list[tuple[int, str]]:
    """Return pairs of board and ``all`` or ``end`` that a player follows, newest board first."""
    return [(row[0], row[1]) for row in connection.execute(_FOLLOWED, {"player": player_id})]


def count(connection: Connection, board_id: int) -> int:
    """Return the number of followers of a board."""
    return count_rows(connection, followers, followers.c.board_id == board_id)


def follow(connection: Connection, board_id: int, player_id: int, what: str) -> None:
    """Follow a board, or change what is followed."""
    put_row(connection, followers, {"board_id": board_id, "player_id": player_id}, what=what)


def unfollow(connection: Connection, board_id: int, player_id: int) -> bool:
    """Stop following a board; return whether the player followed it."""
    return delete_rows(connection, followers, board_id=board_id, player_id=player_id) > 0


def drop_all(connection: Connection, board_id: int) -> None:
    """Remove all followers of a board."""
    delete_rows(connection, followers, board_id=board_id)
