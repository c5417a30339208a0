"""Rows about people: players, their addresses, signups and the keys of reply addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.store.models import addresses, keys, players, signups
from pbmserv.store.prepared import Prepared


@dataclass(frozen=True, slots=True)
class Player:
    """An active player."""

    id: int
    userid: str
    password_hash: str = field(repr=False)
    address: str
    reply_epoch: int


@dataclass(frozen=True, slots=True)
class PendingSignup:
    """A request for a userid from one address; `player_id` is set once it was confirmed."""

    id: int
    userid: str
    password_hash: str = field(repr=False)
    address: str
    batch: str
    player_id: int | None


_PLAYER = select(
    players.c.id,
    players.c.userid,
    players.c.password_hash,
    players.c.address,
    players.c.reply_epoch,
)
_BY_ID = Prepared(_PLAYER.where(players.c.id == bindparam("id")))
_BY_USERID = Prepared(_PLAYER.where(players.c.userid == bindparam("userid")))
_BY_ADDRESS = (
    _PLAYER.join(addresses, addresses.c.player_id == players.c.id)
    .where(addresses.c.address == bindparam("address"))
    .order_by(players.c.id)
)


def by_id(connection: Connection, player_id: int) -> Player | None:
    """The player with this row id."""
    found = _BY_ID.rows(connection, {"id": player_id})
    return Player(*found[0]) if found else None


def by_userid(connection: Connection, userid: str) -> Player | None:
    """The player with this userid (lower case)."""
    found = _BY_USERID.rows(connection, {"userid": userid})
    return Player(*found[0]) if found else None


def by_address(connection: Connection, address: str) -> list[Player]:
    """All players for whom *address* (lower case) is confirmed."""
    return [Player(*row) for row in connection.execute(_BY_ADDRESS, {"address": address})]


def create(
    connection: Connection, userid: str, password_hash: str, address: str, now: datetime
) -> Player | None:
    """A new player with one confirmed address; ``None`` when the userid is taken."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    created = connection.execute(
        dialect.insert(players)
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
    return Player(created, userid, password_hash, address, 0)


def add_address(connection: Connection, player_id: int, address: str, now: datetime) -> None:
    """One more confirmed address; adding one that is there changes nothing."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(
        dialect.insert(addresses)
        .values(address=address, player_id=player_id, confirmed_at=now)
        .on_conflict_do_nothing()
    )


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


_SIGNUP = select(
    signups.c.id,
    signups.c.userid,
    signups.c.password_hash,
    signups.c.address,
    signups.c.batch,
    signups.c.player_id,
)


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
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(
        dialect.insert(keys)
        .values(id=key_id, secret=secret, created_at=now)
        .on_conflict_do_nothing()
    )
