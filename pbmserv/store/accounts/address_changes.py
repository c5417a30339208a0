"""Rows of changes of address, which the new addresses have to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from pbmserv.store.accounts import players as accounts
from pbmserv.store.core.statements import (
    add_numbered_row,
    change_rows,
    columns_of,
    delete_rows,
    first_row,
)
from pbmserv.store.tables.accounts import address_changes, players


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A new address in a change of addresses.

    Attributes:
        batch: joins the addresses of one change.
    """

    id: int
    player_id: int
    address: str
    batch: str
    created_at: datetime
    confirmed_at: datetime | None


_CHANGE = select(*columns_of(AddressChange, address_changes))


def add(
    connection: Connection,
    player_id: int,
    wanted: Sequence[str],
    confirmed: Sequence[str],
    batch: str,
    now: datetime,
) -> dict[str, int]:
    """Store a change of addresses in place of an unconfirmed one; return row ids by address.

    Args:
        wanted: the player's future addresses.
        confirmed: those of them that are confirmed already.
    """
    stop(connection, player_id)
    return {
        address: add_numbered_row(
            connection,
            address_changes,
            player_id=player_id,
            address=address,
            batch=batch,
            created_at=now,
            confirmed_at=now if address in confirmed else None,
        )
        for address in wanted
    }


def by_id(connection: Connection, change_id: int) -> AddressChange | None:
    """Return a change of address, `None` if it was stopped or replaced."""
    statement = _CHANGE.where(address_changes.c.id == change_id)
    return first_row(connection, AddressChange, statement)


def stop(connection: Connection, player_id: int) -> None:
    """Delete the unconfirmed addresses of a change."""
    connection.execute(
        delete(address_changes).where(
            address_changes.c.player_id == player_id, address_changes.c.confirmed_at.is_(None)
        )
    )


def confirm(connection: Connection, change: AddressChange, now: datetime) -> list[str]:
    """Confirm a new address, and drop addresses that the change does not name.

    Letters go to the first confirmed address of the change. If addresses are dropped, the reply
    addresses of the player are revoked.

    Returns:
        The dropped addresses.
    """
    player = accounts.by_id(connection, change.player_id)
    assert player is not None
    accounts.add_address(connection, change.player_id, change.address, now)
    change_rows(connection, address_changes, {"id": change.id}, confirmed_at=now)
    of_batch = _CHANGE.where(address_changes.c.batch == change.batch).order_by(address_changes.c.id)
    kept = [row.address for row in connection.execute(of_batch) if row.confirmed_at]
    dropped = accounts.keep_addresses(connection, change.player_id, kept)
    connection.execute(
        update(players)
        .where(players.c.id == change.player_id)
        .values(address=kept[0], reply_epoch=player.reply_epoch + (1 if dropped else 0))
    )
    return dropped


def forget(connection: Connection, change_id: int) -> None:
    """Delete a change of address."""
    delete_rows(connection, address_changes, id=change_id)
