"""Rows of players and their confirmed addresses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
)

from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import add_if_new, change_rows, columns_of, has_row, insert_into
from pbmserv.store.delivery import bounces
from pbmserv.store.tables.accounts import PlayerState, addresses, players
from pbmserv.store.tables.boards import seats

_MOST_ALIKE = 200
"""Largest number of userids that are compared with a misspelt one."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player or bot; the columns of a new account have the same defaults.

    Attributes:
        address: address for letters; ``""`` for a player who has left.
        reply_epoch: reply addresses with a lower epoch are revoked.
        format: ``html`` (text and HTML), ``text``, ``tiny`` (short, for an expensive link), or
            ``spoken`` (boards in sentences, for screen readers).
        tz: name of the time zone.
        accept: what happens to challenges: ``ask``, ``auto`` or ``none``.
        remind: extra reminders before a forfeit (``2d,6h``), and ``night``.
        broadcasts: whether messages of players who may write to everybody are sent.
        announcements: whether operators' announcements are sent that are no service notices.
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
    format: str = "html"
    tz: str = "UTC"
    accept: str = "ask"
    remind: str = ""
    broadcasts: bool = False
    announcements: bool = True
    report: str = "ask"
    labels: str = "ask"
    public: bool = True
    messages: str = "all"
    digest_minute: int | None = None
    unreachable_since: datetime | None = None

    @property
    def player_id(self) -> int:
        """The id, under its name at a board (`Sitter`)."""
        return self.id

    @property
    def active(self) -> bool:
        """Return whether the player may send commands, be challenged and get letters."""
        return self.state == PlayerState.ACTIVE

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns of the player's row, without the id."""
        columns = asdict(self)
        del columns["id"]
        return columns


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


def lock(connection: Connection, player_id: int) -> None:
    """Lock a player's row until the end of the transaction."""
    connection.execute(select(players.c.id).where(players.c.id == player_id).with_for_update())


def active_of(connection: Connection, reply_address: ReplyAddress) -> Player | None:
    """Return the active player of a reply address; `None` if a newer one has revoked it."""
    player = by_id(connection, reply_address.player)
    if player is None or not player.active or player.reply_epoch != reply_address.epoch:
        return None
    return player


def active_by_userid(connection: Connection, userid: str) -> Player | None:
    """Return the active player with this userid (lower case)."""
    rows = _ACTIVE.run(connection, {"userid": userid})
    return Player(*rows[0]) if rows else None


def account_of(connection: Connection, userid: str) -> Player | None:
    """Return the player or bot with this userid (lower case), in any state."""
    rows = _BY_USERID.run(connection, {"userid": userid})
    return Player(*rows[0]) if rows else None


def by_address(connection: Connection, address: str) -> list[Player]:
    """Return the active players for whom *address* (any case) is confirmed."""
    return [Player(*row) for row in connection.execute(_BY_ADDRESS, {"address": address.lower()})]


def is_address(connection: Connection, address: str) -> bool:
    """Return whether *address* (lower case) is confirmed for a player in any state."""
    return has_row(connection, addresses, addresses.c.address == address)


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


def wanting_broadcasts(connection: Connection) -> list[Player]:
    """Return the active players who want operators' messages, in the order of their ids."""
    return listed(connection, players.c.broadcasts, players.c.state == PlayerState.ACTIVE)


_UNNAMED = select(players.c.userid).where(
    players.c.userid.in_(bindparam("userids", expanding=True)), players.c.public.is_(False)
)


def unnamed(connection: Connection, userids: Collection[str]) -> frozenset[str]:
    """Return those userids that public pages must not show."""
    return frozenset(connection.execute(_UNNAMED, {"userids": sorted(userids)}).scalars())


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


def reserve(connection: Connection, userid: str, now: datetime, **number: int) -> None:
    """Keep a userid taken by a deleted account, perhaps one with this `id`."""
    connection.execute(
        insert(players).values(
            **number,
            userid=userid,
            password_hash="",
            address="",
            created_at=now,
            state=PlayerState.DELETED,
            accept="none",
        )
    )


def add_address(connection: Connection, player_id: int, address: str, now: datetime) -> None:
    """Add a confirmed address; an existing one stays as it is.

    Bounces from the address are forgotten, since it has just been shown to work.
    """
    add_if_new(connection, addresses, address=address, player_id=player_id, confirmed_at=now)
    bounces.forgive(connection, [address])


def addresses_of(connection: Connection, player_id: int) -> list[str]:
    """Return the confirmed addresses of a player, in the order of their confirmation."""
    rows = connection.execute(
        select(addresses.c.address)
        .where(addresses.c.player_id == player_id)
        .order_by(addresses.c.confirmed_at, addresses.c.address)
    )
    return list(rows.scalars())


def has_address(connection: Connection, player_id: int, address: str) -> bool:
    """Return whether an address, in upper or lower case, is confirmed for a player."""
    which = (addresses.c.address == address.lower(), addresses.c.player_id == player_id)
    return has_row(connection, addresses, *which)


def change(connection: Connection, player_id: int, values: Mapping[str, Any]) -> None:
    """Set columns of a player's row."""
    change_rows(connection, players, {"id": player_id}, **values)


def keep_addresses(connection: Connection, player_id: int, kept: Sequence[str]) -> list[str]:
    """Drop all confirmed addresses except *kept*; return the dropped ones."""
    dropped = [a for a in addresses_of(connection, player_id) if a not in kept]
    connection.execute(
        delete(addresses).where(
            addresses.c.player_id == player_id, addresses.c.address.in_(dropped)
        )
    )
    bounces.forget_strangers(connection, dropped)
    return dropped
