"""Rows of boards that wait to be accepted, and counts of boards by which challenges are limited."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from pbmserv.store.boards import player_boards
from pbmserv.store.tables.boards import RUNNING, BoardStatus, boards, seats


def count_alone(connection: Connection, player_id: int) -> int:
    """Return the number of running boards at which the player is alone."""
    return len(player_boards.of_player(connection, player_id, RUNNING, alone=True))


def count_open(connection: Connection, player_id: int, *, proven: bool) -> int:
    """Return the number of boards on which the player waits for others to accept.

    Args:
        proven: count boards that the player provably asked for, or those without proof.
    """
    return len(_open_boards(connection, player_id, proven=proven))


def count_open_towards(
    connection: Connection, player_id: int, other_id: int, *, proven: bool
) -> int:
    """Return the number of boards of `count_open` on which the player waits for this other one."""
    mine = _open_boards(connection, player_id, proven=proven)
    theirs = player_boards.of_player(
        connection, other_id, (BoardStatus.PROPOSED,), accepted=False, among=mine
    )
    return len(theirs)


def _open_boards(connection: Connection, player_id: int, *, proven: bool) -> list[int]:
    return player_boards.of_player(
        connection, player_id, (BoardStatus.PROPOSED,), accepted=True, proven=proven
    )


def count_running_between(connection: Connection, player_id: int, other_id: int) -> int:
    """Return the number of boards of both players that are not over, accepted or not."""
    mine = player_boards.of_player(connection, player_id, RUNNING)
    return len(player_boards.of_player(connection, other_id, RUNNING, among=mine))


def have_played(
    connection: Connection, player_ids: Collection[int], other_ids: Collection[int]
) -> bool:
    """Return whether one of some players has played with one of others."""
    mine, theirs = (
        {
            board_id
            for player_id in sorted(ids)
            for board_id in player_boards.of_player(
                connection, player_id, (BoardStatus.ACTIVE, BoardStatus.FINISHED), accepted=True
            )
        }
        for ids in (player_ids, other_ids)
    )
    return not mine.isdisjoint(theirs)


def waiting_for(
    connection: Connection,
    player_id: int,
    game: str,
    options: Sequence[str],
    sitting: Sequence[int],
) -> int | None:
    """Return the oldest challenge to this player with exactly these options and seats.

    Returns:
        None if there is none.
    """
    challenges = player_boards.of_player(
        connection, player_id, (BoardStatus.PROPOSED,), accepted=False, game=game
    )
    for board_id in reversed(challenges):
        words = connection.execute(
            select(boards.c.options).where(boards.c.id == board_id)
        ).scalar_one()
        player_ids = connection.execute(
            select(seats.c.player_id).where(seats.c.board_id == board_id).order_by(seats.c.seat)
        ).scalars()
        if words == tuple(options) and list(player_ids) == list(sitting):
            return board_id
    return None
