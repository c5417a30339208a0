"""Merges two accounts: what one of them owns goes to the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, Table, delete, select, update

from pbmserv.store import teams
from pbmserv.store.accounts import address_changes as address_change_rows
from pbmserv.store.accounts import blocks, leaving
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import player_boards, seeks
from pbmserv.store.core.statements import change_rows, delete_rows
from pbmserv.store.delivery import unsent_letters
from pbmserv.store.events import event_bars, event_entries
from pbmserv.store.ladders import ladder_challenges, ladder_places
from pbmserv.store.shared_boxes import shared_boxes
from pbmserv.store.tables.accounts import (
    PlayerState,
    absences,
    address_changes,
    addresses,
    invitations,
    notices,
    signups,
)
from pbmserv.store.tables.boards import boards, followers, seats
from pbmserv.store.tables.boxes import daily_readers
from pbmserv.store.tables.events import regulars
from pbmserv.store.tables.mail import inbox, outbox
from pbmserv.store.tables.ratings import scores

_WHY = "the account was merged into another one"
"""Why a letter to the old account was not sent, for the operator."""

_ONE_FOR_EACH: Mapping[Table, str] = {
    addresses: "address",
    daily_readers: "game",
    followers: "board_id",
    regulars: "game",
}
"""Tables in which a player has at most one row for each value of this column."""

_MANY = (absences, address_changes, inbox, invitations, scores, signups)
"""Tables in which a player may have any number of rows."""


def boards_of_both(connection: Connection, first: int, other: int) -> list[int]:
    """Return the boards at which both players sit."""
    boards_of_other = select(seats.c.board_id).where(seats.c.player_id == other)
    rows = connection.execute(
        select(seats.c.board_id)
        .where(seats.c.player_id == first, seats.c.board_id.in_(boards_of_other))
        .distinct()
        .order_by(seats.c.board_id)
    )
    return list(rows.scalars())


def merge(
    connection: Connection, old: Player, new: Player, running: Collection[int], now: datetime
) -> int:
    """Give all that one player owns to another, and close the account of the first one.

    If both have the same, *new* keeps the better place on a ladder and otherwise the own one (see
    docs/operating/day-to-day.md); leaving ends the other. Ratings are not changed.

    Args:
        running: the running boards of the old account, which are sent again.

    Returns:
        The number of seats.
    """
    seat_count = _move_seats(connection, old.id, new.id)
    address_change_rows.stop(connection, old.id)  # its confirmation would drop addresses of *new*
    for table, column in _ONE_FOR_EACH.items():
        _move_unless_both(connection, table, column, old.id, new.id)
    for table in _MANY:
        change_rows(connection, table, {"player_id": old.id}, player_id=new.id)
    _stop_following_own_boards(connection, new.id)
    blocks.move(connection, old.id, new.id)
    seeks.move(connection, old.id, new.id)
    shared_boxes.move(connection, old.id, new.id)
    event_entries.move(connection, old.id, new.id)
    event_bars.move(connection, old.id, new.id)
    teams.move(connection, old.id, new.id, now)
    ladder_challenges.move(connection, old.id, new.id)
    ladder_places.move_all(connection, old.id, new.id, now)
    unsent_letters.hand_on(connection, old.id, new.id, new.address, running, now)
    leaving.leave(connection, old, _WHY, now)  # ends what did not move
    change_rows(connection, outbox, {"player_id": old.id}, player_id=new.id)
    for table in (addresses, notices):
        delete_rows(connection, table, player_id=old.id)
    closed = {"state": PlayerState.DELETED, "password_hash": "", "accept": "none"}
    player_rows.change(connection, old.id, closed)
    return seat_count


def _move_seats(connection: Connection, old: int, new: int) -> int:
    """Give one player's seats to another, with queued moves and notes; return their number."""
    of_old = boards.c.id.in_(select(seats.c.board_id).where(seats.c.player_id == old))
    not_drawn = update(boards).where(of_old).values(sides_drawn=False)
    connection.execute(not_drawn)  # under this name
    connection.execute(
        update(boards).where(of_old, boards.c.chosen_by == old).values(chosen_by=new)
    )
    seat_count = change_rows(connection, seats, {"player_id": old}, player_id=new)
    board_ids = player_boards.of_player(connection, old)
    player_boards.remove(connection, old)
    for board_id in board_ids:
        player_boards.refresh(connection, board_id)
    return seat_count


def _move_unless_both(
    connection: Connection, table: Table, column: str, old: int, new: int
) -> None:
    """Give one player's rows to another, who keeps the own ones with the same value of a column."""
    values_of_new = select(table.c[column]).where(table.c.player_id == new)
    only_old = (table.c.player_id == old, table.c[column].not_in(values_of_new))
    connection.execute(update(table).where(*only_old).values(player_id=new))


def _stop_following_own_boards(connection: Connection, player_id: int) -> None:
    """Remove a player from the followers of boards at which the player sits."""
    own = select(seats.c.board_id).where(seats.c.player_id == player_id)
    connection.execute(
        delete(followers).where(followers.c.player_id == player_id, followers.c.board_id.in_(own))
    )
