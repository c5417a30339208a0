"""Rows of players, addresses, signups, changes of address, and keys of reply addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from pbmserv.store.core.statements import Prepared, columns_of, insert_into
from pbmserv.store.delivery import bounces as bounce_rows
from pbmserv.store.tables.accounts import (
    PlayerState,
    address_changes,
    addresses,
    keys,
    players,
    signups,
)
from pbmserv.store.tables.boards import seats
from pbmserv.store.tables.mail import bounces

_MOST_ALIKE = 200
"""Largest number of userids that are compared with a misspelt one."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player or bot.

    Attributes:
        address: address for letters; ``""`` for a player who has left.
        reply_epoch: reply addresses with a lower epoch are revoked.
        format: ``html`` (text and HTML), ``text``, or ``spoken`` (boards in sentences, for screen
            readers).
        tz: name of the time zone.
        accept: what happens to challenges: ``ask``, ``auto`` or ``none``.
        remind: extra reminders before a forfeit (``2d,6h``), and ``night``.
        broadcasts: whether operators' messages to everybody are sent.
        report: whether the coach's report comes with each result (``always``) or on request
            (``ask``).
        labels: whether a cell named by the labels of the far sides of a board leads to a question
            (``ask``) or is accepted (``both``).
        public: whether public pages show the name.
        messages: senders whose messages are delivered: ``all``, ``played`` (former opponents) or
            ``none``.
        digest_minute: minute of the local day for the daily digest; `None` for no digest.
        unreachable_since: time since which letters to every address come back; `None` if they
            arrive.
    """

    id: int
    userid: str
    password_hash: str = field(repr=False)
    address: str
    reply_epoch: int
    state: PlayerState
    format: str
    tz: str
    accept: str
    remind: str
    broadcasts: bool
    report: str
    labels: str
    public: bool
    messages: str
    digest_minute: int | None
    unreachable_since: datetime | None

    @property
    def active(self) -> bool:
        """Return whether the player may send commands, be challenged and get letters."""
        return self.state == PlayerState.ACTIVE


@dataclass(frozen=True, slots=True)
class PendingSignup:
    """A request for a userid from one address.

    Attributes:
        batch: joins the requests of one signup for several addresses.
        player_id: player that was created by the confirmation; `None` before.
        created_at: time of the confirmation letter, or of the request before that letter.
    """

    id: int
    userid: str
    password_hash: str = field(repr=False)
    address: str
    batch: str
    player_id: int | None
    created_at: datetime


_PLAYER = select(*columns_of(Player, players))
_BY_ID = Prepared(_PLAYER.where(players.c.id == bindparam("id")))
_NAMED = _PLAYER.where(players.c.userid == bindparam("userid"))
_BY_USERID = Prepared(_NAMED)
_ACTIVE = Prepared(_NAMED.where(players.c.state == PlayerState.ACTIVE))
_BY_ADDRESS = (
    _PLAYER.join(addresses, addresses.c.player_id == players.c.id)
    .where(addresses.c.address == bindparam("address"), players.c.state == PlayerState.ACTIVE)
    .order_by(players.c.id)
)


def by_id(connection: Connection, player_id: int) -> Player | None:
    """Return a player in any state, `None` if there is none."""
    rows = _BY_ID.run(connection, {"id": player_id})
    return Player(*rows[0]) if rows else None


def by_userid(connection: Connection, userid: str) -> Player | None:
    """Return the active player with this userid (lower case)."""
    rows = _ACTIVE.run(connection, {"userid": userid})
    return Player(*rows[0]) if rows else None


def of_name(connection: Connection, userid: str) -> Player | None:
    """Return the player or bot with this userid (lower case), in any state."""
    rows = _BY_USERID.run(connection, {"userid": userid})
    return Player(*rows[0]) if rows else None


def by_address(connection: Connection, address: str) -> list[Player]:
    """Return the active players for whom *address* (any case) is confirmed."""
    return [Player(*row) for row in connection.execute(_BY_ADDRESS, {"address": address.lower()})]


def is_address(connection: Connection, address: str) -> bool:
    """Return whether *address* (lower case) is confirmed for a player in any state."""
    statement = select(addresses.c.player_id).where(addresses.c.address == address).limit(1)
    return connection.execute(statement).first() is not None


def seated_like(connection: Connection, userid: str) -> list[str]:
    """Return userids of players with boards that may be meant by a misspelt userid."""
    rows = connection.execute(
        select(players.c.userid)
        .where(
            players.c.userid.startswith(userid[0], autoescape=True),
            func.length(players.c.userid).between(len(userid) - 2, len(userid) + 2),
            players.c.state == PlayerState.ACTIVE,
            exists().where(seats.c.player_id == players.c.id),
        )
        .order_by(players.c.id)
        .limit(_MOST_ALIKE)
    )
    return list(rows.scalars())


def listed(connection: Connection, *which: ColumnElement[bool]) -> list[Player]:
    """Return the players that meet all conditions, in the order of their ids."""
    rows = connection.execute(_PLAYER.where(*which).order_by(players.c.id))
    return [Player(*row) for row in rows]


def userids(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the userids of some players by id."""
    rows = connection.execute(select(players.c.id, players.c.userid).where(players.c.id.in_(ids)))
    return {row.id: row.userid for row in rows}


def create(
    connection: Connection, userid: str, password_hash: str, address: str, now: datetime
) -> Player | None:
    """Create a player with one confirmed address; return `None` if the userid is taken."""
    player_id = connection.execute(
        insert_into(connection, players)
        .values(
            userid=userid,
            password_hash=password_hash,
            address=address,
            reply_epoch=0,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["userid"])
        .returning(players.c.id)
    ).scalar()
    if player_id is None:
        return None
    add_address(connection, player_id, address, now)
    return by_id(connection, player_id)


def add_address(connection: Connection, player_id: int, address: str, now: datetime) -> None:
    """Add a confirmed address; an existing one stays as it is.

    Bounces from the address are forgotten, since it has just been shown to work.
    """
    connection.execute(
        insert_into(connection, addresses)
        .values(address=address, player_id=player_id, confirmed_at=now)
        .on_conflict_do_nothing()
    )
    connection.execute(delete(bounces).where(bounces.c.address == address))


def addresses_of(connection: Connection, player_id: int) -> list[str]:
    """Return the confirmed addresses of a player, in the order of their confirmation."""
    rows = connection.execute(
        select(addresses.c.address)
        .where(addresses.c.player_id == player_id)
        .order_by(addresses.c.confirmed_at, addresses.c.address)
    )
    return list(rows.scalars())


def set_password(connection: Connection, player_id: int, password_hash: str) -> None:
    """Replace the password hash."""
    connection.execute(
        update(players).where(players.c.id == player_id).values(password_hash=password_hash)
    )


def add_signup(
    connection: Connection,
    userid: str,
    password_hash: str,
    address: str,
    batch: str,
    now: datetime,
) -> int:
    """Store a request until it is confirmed; return its id."""
    signup_id: int = connection.execute(
        insert(signups)
        .values(
            userid=userid,
            password_hash=password_hash,
            address=address,
            batch=batch,
            created_at=now,
        )
        .returning(signups.c.id)
    ).scalar_one()
    return signup_id


_SIGNUP = select(*columns_of(PendingSignup, signups))


def signup(connection: Connection, signup_id: int) -> PendingSignup | None:
    """Return a request for a userid, `None` if there is none."""
    row = connection.execute(_SIGNUP.where(signups.c.id == signup_id)).first()
    return PendingSignup(*row) if row else None


def pending(connection: Connection, userid: str) -> list[PendingSignup]:
    """Return the unconfirmed requests for a userid, newest first."""
    rows = connection.execute(
        _SIGNUP.where(signups.c.userid == userid, signups.c.player_id.is_(None)).order_by(
            signups.c.id.desc()
        )
    )
    return [PendingSignup(*row) for row in rows]


def waiting_of_batch(connection: Connection, batch: str) -> list[PendingSignup]:
    """Return the unconfirmed requests of a batch."""
    rows = connection.execute(
        _SIGNUP.where(signups.c.batch == batch, signups.c.player_id.is_(None)).order_by(
            signups.c.id
        )
    )
    return [PendingSignup(*row) for row in rows]


def ask_signups(connection: Connection, numbers: Sequence[int], now: datetime) -> None:
    """Note that confirmation letters for these requests are sent now."""
    connection.execute(update(signups).where(signups.c.id.in_(numbers)).values(created_at=now))


def late_signups(connection: Connection, before: datetime, most: int) -> Sequence[int]:
    """Return the numbers of the oldest unconfirmed requests from *before* a moment."""
    return _oldest(connection, signups, signups.c.player_id, before, most)


def late_changes(connection: Connection, before: datetime, most: int) -> Sequence[int]:
    """Return the numbers of the oldest unconfirmed changes of address from *before* a moment."""
    return _oldest(connection, address_changes, address_changes.c.confirmed_at, before, most)


def _oldest(
    connection: Connection, table: Table, answer: Column[Any], before: datetime, most: int
) -> Sequence[int]:
    """Return the numbers of the oldest rows from *before* a moment whose *answer* is null."""
    numbers = connection.execute(
        select(table.c.id)
        .where(answer.is_(None), table.c.created_at < before)
        .order_by(table.c.created_at)
        .limit(most)
    )
    return list(numbers.scalars())


def batch_owner(connection: Connection, batch: str) -> int | None:
    """Return the player that another request of the same batch has created."""
    player_id: int | None = connection.execute(
        select(signups.c.player_id)
        .where(signups.c.batch == batch, signups.c.player_id.is_not(None))
        .limit(1)
    ).scalar()
    return player_id


def settle_signup(connection: Connection, signup_id: int, player_id: int) -> None:
    """Note the player that a request has created."""
    connection.execute(update(signups).where(signups.c.id == signup_id).values(player_id=player_id))


def signing_keys(connection: Connection) -> dict[int, bytes]:
    """Return the keys of reply addresses by id."""
    return {row.id: row.secret for row in connection.execute(select(keys.c.id, keys.c.secret))}


def add_signing_key(connection: Connection, key_id: int, secret: bytes, now: datetime) -> None:
    """Add a key; do nothing if another process has added this id first."""
    connection.execute(
        insert_into(connection, keys)
        .values(id=key_id, secret=secret, created_at=now)
        .on_conflict_do_nothing()
    )


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


def ask_change(
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
    stop_change(connection, player_id)
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


def address_change(connection: Connection, change_id: int) -> AddressChange | None:
    """Return a change of address, `None` if it was stopped or replaced."""
    row = connection.execute(_CHANGE.where(address_changes.c.id == change_id)).first()
    return AddressChange(*row) if row else None


def stop_change(connection: Connection, player_id: int) -> None:
    """Delete the unconfirmed addresses of a change."""
    connection.execute(
        delete(address_changes).where(
            address_changes.c.player_id == player_id, address_changes.c.confirmed_at.is_(None)
        )
    )


def confirm_change(connection: Connection, change: AddressChange, now: datetime) -> list[str]:
    """Confirm a new address, and drop addresses that the change does not name.

    Letters go to the first confirmed address of the change. If addresses are dropped, the reply
    addresses of the player are revoked.

    Returns:
        The dropped addresses.
    """
    player = by_id(connection, change.player_id)
    assert player is not None
    add_address(connection, change.player_id, change.address, now)
    connection.execute(
        update(address_changes).where(address_changes.c.id == change.id).values(confirmed_at=now)
    )
    of_batch = _CHANGE.where(address_changes.c.batch == change.batch).order_by(address_changes.c.id)
    kept = [row.address for row in connection.execute(of_batch) if row.confirmed_at]
    dropped = keep_addresses(connection, change.player_id, kept)
    connection.execute(
        update(players)
        .where(players.c.id == change.player_id)
        .values(address=kept[0], reply_epoch=player.reply_epoch + (1 if dropped else 0))
    )
    return dropped


def keep_addresses(connection: Connection, player_id: int, kept: Sequence[str]) -> list[str]:
    """Drop all confirmed addresses except *kept*; return the dropped ones."""
    dropped = [a for a in addresses_of(connection, player_id) if a not in kept]
    connection.execute(
        delete(addresses).where(
            addresses.c.player_id == player_id, addresses.c.address.in_(dropped)
        )
    )
    bounce_rows.forget_strangers(connection, dropped)
    return dropped


def forget_change(connection: Connection, change_id: int) -> None:
    """Delete a change of address."""
    connection.execute(delete(address_changes).where(address_changes.c.id == change_id))
