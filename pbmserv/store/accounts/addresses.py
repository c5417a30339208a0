"""Rows of changes of address: asked for, confirmed one by one, or stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from pbmserv.store.accounts import players as player_rows
from pbmserv.store.delivery import bounces
from pbmserv.store.tables import address_changes, addresses, players


@dataclass(frozen=True, slots=True)
class AddressChange:
    """One new address of a change; `batch` joins those that were asked for together."""

    id: int
    player_id: int
    address: str
    batch: str
    confirmed_at: datetime | None


_CHANGE = select(
    address_changes.c.id,
    address_changes.c.player_id,
    address_changes.c.address,
    address_changes.c.batch,
    address_changes.c.confirmed_at,
)


def ask(
    connection: Connection,
    player_id: int,
    wanted: Sequence[str],
    confirmed: Sequence[str],
    batch: str,
    now: datetime,
) -> dict[str, int]:
    """Note a change of address in place of any that still waits; row ids by address.

    Args:
        wanted: the player's future addresses.
        confirmed: those of them that need no confirmation, being confirmed already.
    """
    stop(connection, player_id)
    return {
        address: connection.execute(
            insert(address_changes)
            .values(
                player_id=player_id,
                address=address,
                batch=batch,
                created_at=now,
                confirmed_at=now if address in confirmed else None,
            )
            .returning(address_changes.c.id)
        ).scalar_one()
        for address in wanted
    }


def change(connection: Connection, change_id: int) -> AddressChange | None:
    """The change with this id; ``None`` when it was stopped or replaced by a newer one."""
    row = connection.execute(_CHANGE.where(address_changes.c.id == change_id)).first()
    return AddressChange(*row) if row else None


def stop(connection: Connection, player_id: int) -> None:
    """Forget all that waits for confirmation; what is confirmed stays."""
    connection.execute(
        delete(address_changes).where(
            address_changes.c.player_id == player_id, address_changes.c.confirmed_at.is_(None)
        )
    )


def confirm(connection: Connection, found: AddressChange, now: datetime) -> list[str]:
    """Confirm a new address; those from before its batch are dropped and come back.

    If the address for letters is one of those, this one takes its place. Reply addresses that
    went to dropped ones are revoked with them.
    """
    player = player_rows.by_id(connection, found.player_id)
    assert player is not None
    player_rows.add_address(connection, found.player_id, found.address, now)
    connection.execute(
        update(address_changes).where(address_changes.c.id == found.id).values(confirmed_at=now)
    )
    batch = connection.execute(_CHANGE.where(address_changes.c.batch == found.batch)).all()
    dropped = keep_only(
        connection, found.player_id, [row.address for row in batch if row.confirmed_at]
    )
    if dropped:
        address = found.address if player.address in dropped else player.address
        connection.execute(
            update(players)
            .where(players.c.id == found.player_id)
            .values(address=address, reply_epoch=player.reply_epoch + 1)
        )
    return dropped


def keep_only(connection: Connection, player_id: int, kept: Sequence[str]) -> list[str]:
    """Drop every confirmed address but these; the dropped ones come back."""
    dropped = [a for a in player_rows.addresses_of(connection, player_id) if a not in kept]
    connection.execute(
        delete(addresses).where(
            addresses.c.player_id == player_id, addresses.c.address.in_(dropped)
        )
    )
    bounces.forget_strangers(connection, dropped)
    return dropped


def forget(connection: Connection, change_id: int) -> None:
    """One new address will never be confirmed."""
    connection.execute(delete(address_changes).where(address_changes.c.id == change_id))
