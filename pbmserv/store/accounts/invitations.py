"""Rows of invitations by mail address, and of addresses that want none.

They hold no addresses, only keyed hashes of them, called marks (`KeyRing.marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, bindparam, select

from pbmserv.engine.clocks import Terms
from pbmserv.store.core.statements import (
    add_if_new,
    add_numbered_row,
    change_rows,
    columns_of,
    count_rows,
    delete_rows,
    first_row,
    has_row,
    values_of,
)
from pbmserv.store.tables.accounts import InvitationState, invitations, uninvited


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation to an address whose owner may become a player.

    Attributes:
        player_id: the inviting player.
        mark: keyed hash of the address.
        sent: whether a letter was sent; not if the address wants none or got enough of them.
        name: userid that the inviter proposes; may be ``""``.
        options: canonical words.
        board_id: board that was created from it.
    """

    player_id: int
    mark: str
    sent: bool
    name: str
    game: str
    options: tuple[str, ...]
    terms: Terms
    created_at: datetime
    state: InvitationState = InvitationState.OPEN
    board_id: int | None = None


def add(connection: Connection, invitation: Invitation) -> int:
    """Store an invitation; return its number."""
    return add_numbered_row(connection, invitations, **values_of(invitation, invitations))


_BY_ID = select(*columns_of(Invitation, invitations)).where(invitations.c.id == bindparam("number"))


def by_id(connection: Connection, number: int) -> Invitation | None:
    """Return an invitation, `None` if there is none."""
    return first_row(connection, Invitation, _BY_ID, {"number": number})


def lock(connection: Connection, number: int) -> Invitation | None:
    """Return an invitation and lock its row until the end of the transaction."""
    return first_row(connection, Invitation, _BY_ID.with_for_update(), {"number": number})


def settle(
    connection: Connection, number: int, state: InvitationState, board_id: int | None = None
) -> None:
    """Note the answer to an invitation, and the board that was created from it."""
    change_rows(connection, invitations, {"id": number}, state=state, board_id=board_id)


def by_player(connection: Connection, player_id: int, since: datetime) -> int:
    """Return the number of a player's invitations since a moment."""
    return _count(connection, invitations.c.player_id == player_id, since)


def has_invited(
    connection: Connection, player_id: int, marks: Sequence[str], since: datetime
) -> bool:
    """Return whether a player has invited an address since a moment."""
    pair = (invitations.c.player_id == player_id) & invitations.c.mark.in_(marks)
    return _count(connection, pair, since) > 0


def sent_to(connection: Connection, marks: Sequence[str], since: datetime) -> int:
    """Return the number of letters sent to an address since a moment, by all inviters."""
    return _count(connection, invitations.c.sent & invitations.c.mark.in_(marks), since)


def _count(connection: Connection, which: ColumnElement[bool], since: datetime) -> int:
    return count_rows(connection, invitations, which, invitations.c.created_at > since)


def refuse_all(connection: Connection, mark: str, now: datetime) -> None:
    """Note that an address wants no invitations."""
    add_if_new(connection, uninvited, mark=mark, since=now)


def are_refused(connection: Connection, marks: Sequence[str]) -> bool:
    """Return whether an address wants no invitations."""
    return has_row(connection, uninvited, uninvited.c.mark.in_(marks))


def drop_open(connection: Connection, player_id: int) -> None:
    """Delete the open invitations of a player who leaves."""
    delete_rows(connection, invitations, player_id=player_id, state=InvitationState.OPEN)
