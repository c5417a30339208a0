"""Rows about people: players, their addresses, signups and the keys of reply addresses."""

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
"""Userids that are compared with a misspelt one."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player.

    Attributes:
        address: where letters go; "" for one who has left.
        reply_epoch: a reply address made with a lower one is no longer valid.
        format: ``html`` (text and HTML), ``text`` or ``spoken`` (boards in sentences, for a screen
            reader).
        tz: name of the time zone.
        accept: challenges are accepted by ``ask``, ``auto`` or ``none``.
        remind: extra reminders before a forfeit (``2d,6h``), and ``night``.
        broadcasts: wants the operators' words to everybody.
        labels: cells named by the labels of the far sides of a board are asked about (``ask``) or
            taken (``both``).
        report: the coach's report comes with each result (``always``) or when asked for (``ask``).
        public: pages that everybody may read name them.
        messages: whose words reach them: ``all``, ``played`` (people they have played), ``none``.
        digest_minute: minute of the local day for the one mail a day; ``None`` = no digest.
        unreachable_since: letters to every address came back; ``None`` = they arrive.
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
        """Whether they may speak, be challenged and get letters."""
        return self.state == PlayerState.ACTIVE


@dataclass(frozen=True, slots=True)
class PendingSignup:
    """A request for a userid from one address; `player_id` is set once it was confirmed.

    Attributes:
        created_at: when its letter was sent, or, before that, when the request came.
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
    """The player with this row id, also one who has left."""
    found = _BY_ID.run(connection, {"id": player_id})
    return Player(*found[0]) if found else None


def by_userid(connection: Connection, userid: str) -> Player | None:
    """The active player with this userid (lower case): one to play with and to write to."""
    found = _ACTIVE.run(connection, {"userid": userid})
    return Player(*found[0]) if found else None


def of_name(connection: Connection, userid: str) -> Player | None:
    """Whoever has this userid (lower case), also one who has left: a name in old games."""
    found = _BY_USERID.run(connection, {"userid": userid})
    return Player(*found[0]) if found else None


def by_address(connection: Connection, address: str) -> list[Player]:
    """All active players for whom *address* is confirmed, in whatever case it is written."""
    return [Player(*row) for row in connection.execute(_BY_ADDRESS, {"address": address.lower()})]


def is_address(connection: Connection, address: str) -> bool:
    """Whether *address* (lower case) is that of a player, also of one who has left."""
    found = select(addresses.c.player_id).where(addresses.c.address == address).limit(1)
    return connection.execute(found).first() is not None


def seated_like(connection: Connection, userid: str) -> list[str]:
    """Some userids of players at boards that begin as this one does and are about as long."""
    found = connection.execute(
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
    return list(found.scalars())


def listed(connection: Connection, *which: ColumnElement[bool]) -> list[Player]:
    """Players for whom all conditions hold, in order of their numbers."""
    found = connection.execute(_PLAYER.where(*which).order_by(players.c.id))
    return [Player(*row) for row in found]


def userids(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Userids of some players."""
    found = connection.execute(select(players.c.id, players.c.userid).where(players.c.id.in_(ids)))
    return {row.id: row.userid for row in found}


def create(
    connection: Connection, userid: str, password_hash: str, address: str, now: datetime
) -> Player | None:
    """A new player with one confirmed address; ``None`` when the userid is taken."""
    created = connection.execute(
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
    if created is None:
        return None
    add_address(connection, created, address, now)
    return by_id(connection, created)


def add_address(connection: Connection, player_id: int, address: str, now: datetime) -> None:
    """One more confirmed address; adding one that is there changes nothing.

    What came back from it is forgotten: it has just been shown to work.
    """
    connection.execute(
        insert_into(connection, addresses)
        .values(address=address, player_id=player_id, confirmed_at=now)
        .on_conflict_do_nothing()
    )
    connection.execute(delete(bounces).where(bounces.c.address == address))


def addresses_of(connection: Connection, player_id: int) -> list[str]:
    """Confirmed addresses, the one confirmed first in front."""
    found = connection.execute(
        select(addresses.c.address)
        .where(addresses.c.player_id == player_id)
        .order_by(addresses.c.confirmed_at, addresses.c.address)
    )
    return list(found.scalars())


def set_password(connection: Connection, player_id: int, password_hash: str) -> None:
    """Replace a password's hash."""
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
    """Keep a request until its confirmation comes; its id is returned."""
    created: int = connection.execute(
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
    return created


_SIGNUP = select(*columns_of(PendingSignup, signups))


def signup(connection: Connection, signup_id: int) -> PendingSignup | None:
    """The request with this id."""
    row = connection.execute(_SIGNUP.where(signups.c.id == signup_id)).first()
    return PendingSignup(*row) if row else None


def pending(connection: Connection, userid: str) -> list[PendingSignup]:
    """Requests for a userid that nobody has confirmed yet, newest first."""
    found = connection.execute(
        _SIGNUP.where(signups.c.userid == userid, signups.c.player_id.is_(None)).order_by(
            signups.c.id.desc()
        )
    )
    return [PendingSignup(*row) for row in found]


def waiting_of_batch(connection: Connection, batch: str) -> list[PendingSignup]:
    """Return the requests for the other addresses of a signup that nobody has confirmed yet."""
    found = connection.execute(
        _SIGNUP.where(signups.c.batch == batch, signups.c.player_id.is_(None)).order_by(
            signups.c.id
        )
    )
    return [PendingSignup(*row) for row in found]


def ask_signups(connection: Connection, numbers: Sequence[int], now: datetime) -> None:
    """Note that letters for these requests go out now."""
    connection.execute(update(signups).where(signups.c.id.in_(numbers)).values(created_at=now))


def late_signups(connection: Connection, before: datetime, most: int) -> Sequence[int]:
    """Return the numbers of requests from *before* a moment that nobody has confirmed."""
    return _oldest(connection, signups, signups.c.player_id, before, most)


def late_changes(connection: Connection, before: datetime, most: int) -> Sequence[int]:
    """Return the numbers of changes of address from *before* a moment that wait for a yes."""
    return _oldest(connection, address_changes, address_changes.c.confirmed_at, before, most)


def _oldest(
    connection: Connection, table: Table, answer: Column[Any], before: datetime, most: int
) -> Sequence[int]:
    """Return the numbers of the oldest requests from *before* whose *answer* is null."""
    numbers = connection.execute(
        select(table.c.id)
        .where(answer.is_(None), table.c.created_at < before)
        .order_by(table.c.created_at)
        .limit(most)
    )
    return list(numbers.scalars())


def batch_owner(connection: Connection, batch: str) -> int | None:
    """The player that another address of the same request has already become."""
    found: int | None = connection.execute(
        select(signups.c.player_id)
        .where(signups.c.batch == batch, signups.c.player_id.is_not(None))
        .limit(1)
    ).scalar()
    return found


def settle_signup(connection: Connection, signup_id: int, player_id: int) -> None:
    """Note which player a request has become."""
    connection.execute(update(signups).where(signups.c.id == signup_id).values(player_id=player_id))


def signing_keys(connection: Connection) -> dict[int, bytes]:
    """Every key of reply addresses by its id."""
    return {row.id: row.secret for row in connection.execute(select(keys.c.id, keys.c.secret))}


def add_signing_key(connection: Connection, key_id: int, secret: bytes, now: datetime) -> None:
    """One more key; does nothing if another process added that id first."""
    connection.execute(
        insert_into(connection, keys)
        .values(id=key_id, secret=secret, created_at=now)
        .on_conflict_do_nothing()
    )


@dataclass(frozen=True, slots=True)
class AddressChange:
    """One new address of a change; `batch` joins those that were asked for together."""

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
    """Note a change of address in place of any that still waits; row ids by address.

    Args:
        wanted: the player's future addresses.
        confirmed: those of them that need no confirmation, being confirmed already.
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
    """The change with this id; ``None`` when it was stopped or replaced by a newer one."""
    row = connection.execute(_CHANGE.where(address_changes.c.id == change_id)).first()
    return AddressChange(*row) if row else None


def stop_change(connection: Connection, player_id: int) -> None:
    """Forget all that waits for confirmation; what is confirmed stays."""
    connection.execute(
        delete(address_changes).where(
            address_changes.c.player_id == player_id, address_changes.c.confirmed_at.is_(None)
        )
    )


def confirm_change(connection: Connection, found: AddressChange, now: datetime) -> list[str]:
    """Confirm a new address; those from before its batch are dropped and come back.

    Letters go to the first of those that were named and are confirmed. Reply addresses that went
    to dropped ones are revoked with them.
    """
    player = by_id(connection, found.player_id)
    assert player is not None
    add_address(connection, found.player_id, found.address, now)
    connection.execute(
        update(address_changes).where(address_changes.c.id == found.id).values(confirmed_at=now)
    )
    of_batch = _CHANGE.where(address_changes.c.batch == found.batch).order_by(address_changes.c.id)
    kept = [row.address for row in connection.execute(of_batch) if row.confirmed_at]
    dropped = keep_addresses(connection, found.player_id, kept)
    connection.execute(
        update(players)
        .where(players.c.id == found.player_id)
        .values(address=kept[0], reply_epoch=player.reply_epoch + (1 if dropped else 0))
    )
    return dropped


def keep_addresses(connection: Connection, player_id: int, kept: Sequence[str]) -> list[str]:
    """Drop every confirmed address but these; the dropped ones come back."""
    dropped = [a for a in addresses_of(connection, player_id) if a not in kept]
    connection.execute(
        delete(addresses).where(
            addresses.c.player_id == player_id, addresses.c.address.in_(dropped)
        )
    )
    bounce_rows.forget_strangers(connection, dropped)
    return dropped


def forget_change(connection: Connection, change_id: int) -> None:
    """One new address will never be confirmed."""
    connection.execute(delete(address_changes).where(address_changes.c.id == change_id))
