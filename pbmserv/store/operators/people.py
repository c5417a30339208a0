"""Accounts as operators list, close and merge them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from pbmserv.store.accounts import blocks
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.boards import player_boards
from pbmserv.store.core.statements import change_rows, columns_of, delete_rows
from pbmserv.store.events import event_entries
from pbmserv.store.operators.letters import fail_unsent
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
from pbmserv.store.tables.boards import RUNNING, boards, followers, seats, seeks
from pbmserv.store.tables.boxes import daily_readers
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


def bar(connection: Connection, player_id: int) -> None:
    """Bar a player who has just signed off from coming back."""
    player_rows.change(connection, player_id, {"state": PlayerState.BARRED})


def revoke_addresses(connection: Connection, player_id: int, epoch: int) -> None:
    """Revoke every reply address that the player ever got; *epoch* is the player's current one."""
    player_rows.change(connection, player_id, {"reply_epoch": epoch + 1})


def retire(connection: Connection, player_id: int) -> None:
    """Close an account that was merged into another; its userid stays taken."""
    player_rows.change(
        connection, player_id, {"state": PlayerState.DELETED, "password_hash": "", "accept": "none"}
    )


def rename(connection: Connection, player_id: int, userid: str) -> None:
    """Give a player another userid."""
    player_rows.change(connection, player_id, {"userid": userid})


def reserve(connection: Connection, userid: str, now: datetime) -> None:
    """Keep a former userid taken, so that nobody passes for the player."""
    connection.execute(
        insert(players).values(
            userid=userid,
            password_hash="",
            address="",
            created_at=now,
            state=PlayerState.DELETED,
            accept="none",
        )
    )


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


def move_daily_readings(connection: Connection, old: int, new: int) -> None:
    """Give one player's subscriptions to boxes of the day to another, who may have some already."""
    games = select(daily_readers.c.game).where(daily_readers.c.player_id == new)
    connection.execute(
        update(daily_readers)
        .where(daily_readers.c.player_id == old, daily_readers.c.game.not_in(games))
        .values(player_id=new)
    )


def move_everything(connection: Connection, old: int, new: int) -> int:
    """Give one player's seats, results, addresses and mails to another.

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
    for table in (addresses, followers, seeks):
        delete_rows(connection, table, player_id=old)
    blocks.move(connection, old, new)
    shared_boxes.move(connection, old, new)
    event_entries.move(connection, old, new)
    fail_unsent(connection, old, None, "the account was merged into another")
    delete_rows(connection, notices, player_id=old)
    for table in (scores, inbox, outbox, signups, address_changes, invitations):
        change_rows(connection, table, {"player_id": old}, player_id=new)
    return int(seat_count)
