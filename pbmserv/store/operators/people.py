"""Accounts as operators list, close and merge them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from pbmserv.store.accounts import blocks
from pbmserv.store.boards import player_boards
from pbmserv.store.core.statements import change_rows, columns_of, delete_rows
from pbmserv.store.events import event_entries
from pbmserv.store.shared_boxes import shared_boxes
from pbmserv.store.tables.accounts import (
    PlayerState,
    address_changes,
    addresses,
    invitations,
    notices,
    players,
    signups,
)
from pbmserv.store.tables.boards import RUNNING, boards, seats
from pbmserv.store.tables.boxes import daily_readers
from pbmserv.store.tables.events import regulars
from pbmserv.store.tables.mail import inbox, outbox
from pbmserv.store.tables.ratings import scores


@dataclass(frozen=True, slots=True)
class UserLine:
    """A player in a list.

    Attributes:
        running: number of boards that are proposed or active.
    """

    userid: str
    state: PlayerState
    address: str
    created_at: datetime
    running: int


def user_lines(connection: Connection, state: str | None, like: str, limit: int) -> list[UserLine]:
    """Return players in this state (`None`: any), in the order of their userids.

    Args:
        like: part of the userid or address; ``""`` for all.
    """
    running = (
        select(func.count(func.distinct(seats.c.board_id)))
        .join(boards, boards.c.id == seats.c.board_id)
        .where(seats.c.player_id == players.c.id, boards.c.status.in_(RUNNING))
        .scalar_subquery()
    )
    statement = select(*columns_of(UserLine, players, running=running))
    if state:
        statement = statement.where(players.c.state == state)
    if like:
        is_like = players.c.userid.contains(like, autoescape=True)
        statement = statement.where(is_like | players.c.address.contains(like, autoescape=True))
    rows = connection.execute(statement.order_by(players.c.userid).limit(limit))
    return [UserLine(*row) for row in rows]


def shared_boards(connection: Connection, first: int, other: int) -> list[int]:
    """Return the boards at which both players sit."""
    boards_of_other = select(seats.c.board_id).where(seats.c.player_id == other)
    rows = connection.execute(
        select(seats.c.board_id)
        .where(seats.c.player_id == first, seats.c.board_id.in_(boards_of_other))
        .distinct()
        .order_by(seats.c.board_id)
    )
    return list(rows.scalars())


def move_subscriptions(connection: Connection, old: int, new: int) -> None:
    """Give one player's boxes of the day and leagues to another, who may have some already.

    The old player must not have left yet: that ends them.
    """
    for table in (daily_readers, regulars):
        games = select(table.c.game).where(table.c.player_id == new)
        connection.execute(
            update(table)
            .where(table.c.player_id == old, table.c.game.not_in(games))
            .values(player_id=new)
        )


def move_everything(connection: Connection, old: int, new: int) -> int:
    """Give the seats, results, addresses and mails of a player who has left to another.

    A box of the day that both players have stays with the old one: nobody gets two results for it.

    Returns:
        The number of seats.
    """
    of_old = select(seats.c.board_id).where(seats.c.player_id == old)
    not_drawn = update(boards).where(boards.c.id.in_(of_old)).values(sides_drawn=False)
    connection.execute(not_drawn)  # under this name
    seat_count = change_rows(connection, seats, {"player_id": old}, player_id=new)
    board_ids = player_boards.of_player(connection, old)
    player_boards.remove(connection, old)
    for board_id in board_ids:
        player_boards.refresh(connection, board_id)
    addresses_of_new = select(addresses.c.address).where(addresses.c.player_id == new)
    connection.execute(
        update(addresses)
        .where(addresses.c.player_id == old, addresses.c.address.not_in(addresses_of_new))
        .values(player_id=new)
    )
    delete_rows(connection, addresses, player_id=old)
    blocks.move(connection, old, new)
    shared_boxes.move(connection, old, new)
    event_entries.move(connection, old, new)
    delete_rows(connection, notices, player_id=old)
    for table in (scores, inbox, outbox, signups, address_changes, invitations):
        change_rows(connection, table, {"player_id": old}, player_id=new)
    return int(seat_count)
