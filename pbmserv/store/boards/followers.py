"""Rows of followers: who watches which board as a spectator, every turn or only its end."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, select, update

from pbmserv.store.core.statements import Prepared, insert_into
from pbmserv.store.tables import followers, players


@dataclass(frozen=True, slots=True)
class Follower:
    """Somebody who watches a board; `what` is ``all`` or ``end``."""

    player_id: int
    userid: str
    address: str
    what: str


_OF_BOARD = Prepared(
    select(followers.c.player_id, players.c.userid, players.c.address, followers.c.what)
    .join(players, players.c.id == followers.c.player_id)
    .where(followers.c.board_id == bindparam("board"), players.c.state == "active")
    .order_by(followers.c.player_id)
)
_BOARDS_OF = (
    select(followers.c.board_id, followers.c.what)
    .where(followers.c.player_id == bindparam("player"))
    .order_by(followers.c.board_id.desc())
)


def of_board(connection: Connection, board_id: int) -> list[Follower]:
    """Who watches a board; those who have left are not told any more."""
    return [Follower(*row) for row in _OF_BOARD.rows(connection, {"board": board_id})]


def boards_of(connection: Connection, player_id: int) -> list[tuple[int, str]]:
    """What a player watches: (board, ``all`` or ``end``), newest board first."""
    return [(row[0], row[1]) for row in connection.execute(_BOARDS_OF, {"player": player_id})]


def count(connection: Connection, board_id: int) -> int:
    """How many watch a board."""
    found: int = connection.execute(
        select(func.count()).select_from(followers).where(followers.c.board_id == board_id)
    ).scalar_one()
    return found


def follow(connection: Connection, board_id: int, player_id: int, what: str) -> None:
    """Watch a board from now on; another *what* replaces the one before."""
    connection.execute(
        insert_into(connection, followers)
        .values(board_id=board_id, player_id=player_id, what=what)
        .on_conflict_do_nothing()
    )
    connection.execute(
        update(followers)
        .where(followers.c.board_id == board_id, followers.c.player_id == player_id)
        .values(what=what)
    )


def unfollow(connection: Connection, board_id: int, player_id: int) -> bool:
    """Watch a board no longer; whether the player did so."""
    gone = connection.execute(
        delete(followers).where(
            followers.c.board_id == board_id, followers.c.player_id == player_id
        )
    )
    return gone.rowcount > 0


def board_over(connection: Connection, board_id: int) -> None:
    """Nothing more will happen on a board."""
    connection.execute(delete(followers).where(followers.c.board_id == board_id))


def forget(connection: Connection, player_id: int) -> None:
    """A player watches nothing any more."""
    connection.execute(delete(followers).where(followers.c.player_id == player_id))
