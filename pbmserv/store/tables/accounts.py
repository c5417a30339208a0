"""The tables of players, their addresses and wishes, and of what operators do."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    false,
    true,
)

from pbmserv.mail.mailboxes import mailbox_of
from pbmserv.store.tables.columns import Instant, Key, State, metadata


class PlayerState(StrEnum):
    """Who a player is; nobody can speak as the server's own ones, and they have no address."""

    ACTIVE = "active"
    LEFT = "left"
    """Signed off: no mail."""
    BARRED = "barred"
    """Suspended by an operator."""
    DELETED = "deleted"
    """Personal data gone; the userid is a neutral name."""
    BOT = "house"


class InvitationState(StrEnum):
    """What has become of an invitation by mail address."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    RETURNED = "returned"
    """Its letter came back."""


keys = Table(
    "keys",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
)
"""Keys that sign reply addresses. The highest id signs; all of them verify."""

players = Table(
    "players",
    metadata,
    Column("id", Key, primary_key=True),
    Column("userid", String(20), nullable=False, unique=True),
    Column("password_hash", String(200), nullable=False),
    Column("address", String(254), nullable=False),
    Column("reply_epoch", Integer, nullable=False, default=0),
    Column("created_at", Instant, nullable=False),
    Column("state", State(PlayerState, 8), nullable=False, server_default="active"),
    Column("format", String(8), nullable=False, server_default="html"),
    Column("tz", String(40), nullable=False, server_default="UTC"),
    Column("accept", String(4), nullable=False, server_default="ask"),
    Column("remind", String(40), nullable=False, server_default=""),
    Column("broadcasts", Boolean, nullable=False, server_default=false()),
    Column("report", String(6), nullable=False, server_default="ask"),
    Column("labels", String(4), nullable=False, server_default="ask"),
    Column("public", Boolean, nullable=False, server_default=true()),
    Column("messages", String(6), nullable=False, server_default="all"),
    Column("digest_minute", SmallInteger, nullable=True),
    Column("digest_due", Instant, nullable=True),
    Column("unreachable_since", Instant, nullable=True),
)
"""Players. `address` is where their letters go; raising `reply_epoch` revokes every reply
address they ever got.

`format`: html (text and HTML), text, or spoken. `remind`: extra reminders before a forfeit
(``2d,6h``) and ``night`` for those who may be woken. `digest_minute`: minute of the local day
at which the one mail a day is made, empty = letters come at once; `digest_due`: when it is made
next. `report`: ``ask``, or ``always`` for the coach's report with each result. `labels`: ``ask``,
or ``both`` for a player who names cells by the labels of the far sides of a board, too.
`public`: pages that everybody may read name them.
`messages`: whose words reach them: ``none``, ``played`` (people they have played) or ``all``.
`unreachable_since`: every address of theirs is given up, since letters came back."""

Index(
    "ix_players_digest_due",
    players.c.digest_due,
    postgresql_where=players.c.digest_due.is_not(None),
    sqlite_where=players.c.digest_due.is_not(None),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Key, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("operator", String(80), nullable=False),
    Column("action", String(40), nullable=False),
    Column("target", String(80), nullable=False, index=True),
    Column("why", Text, nullable=False),
    Column("facts", JSON, nullable=False),
)
"""What operators have done, to whom or what, and why. `target`: ``user alice``, ``board 12``,
``game blackbox``. `facts`: what it was before and after."""

closed_games = Table(
    "closed_games",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("closed_at", Instant, nullable=False),
)
"""Games of which no new boards are made at present; those that run go on."""

blocks = Table(
    "blocks",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("blocked_id", ForeignKey("players.id"), primary_key=True),
)
"""Players from whom a player wants no words and no boards. A row outlasts the blocked name."""

blocked_mailboxes = Table(
    "blocked_mailboxes",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("blocked_id", ForeignKey("players.id"), primary_key=True),
    Column("mark", String(64), primary_key=True),
)
"""Mailboxes of blocked players, as keyed hashes: a new name with such a mailbox is blocked, too."""

absences = Table(
    "absences",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=False),
)
"""When players were, are or will be away; `back` ends one, or takes back one that was planned."""

notices = Table(
    "notices",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("kind", String(12), primary_key=True),
    Column("told_at", Instant, nullable=False),
)
"""When players were last told what is not told again so soon. `kind`: away (asked whether they are
out of the office), busy (too many mails), gone (when their opponents heard that they cannot be
reached), astray (that they write to an address for reports), stays (that they do not leave after
all, whatever is answered to the letter that asked), or - and what one click has ended."""

address_changes = Table(
    "address_changes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("address", String(254), nullable=False),
    Column("batch", String(32), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("confirmed_at", Instant, nullable=True),
)
"""New addresses that wait for their confirmation, one row for each. With the first one of a
batch to be confirmed the addresses from before that batch are dropped."""

Index(
    "ix_address_changes_waiting",
    address_changes.c.created_at,
    postgresql_where=address_changes.c.confirmed_at.is_(None),
    sqlite_where=address_changes.c.confirmed_at.is_(None),
)


def _mailbox_of_row(row: Any) -> str:
    return mailbox_of(row.get_current_parameters()["address"])


addresses = Table(
    "addresses",
    metadata,
    Column("address", String(254), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("confirmed_at", Instant, nullable=False),
    Column("mailbox", Text, nullable=False, index=True, default=_mailbox_of_row, server_default=""),
)
"""Confirmed addresses, lower case. One address may belong to several players. `mailbox`: where its
mail goes (`mail.mailboxes`); players with the same mailbox are one person."""

signups = Table(
    "signups",
    metadata,
    Column("id", Key, primary_key=True),
    Column("userid", String(20), nullable=False, index=True),
    Column("password_hash", String(200), nullable=False),
    Column("address", String(254), nullable=False),
    Column("batch", String(32), nullable=False),
    Column("player_id", ForeignKey("players.id"), nullable=True),
    Column("created_at", Instant, nullable=False),
)
"""Requests that wait for their confirmation, a row for each address. The first one of a userid
to be confirmed gets it; `player_id` is set when that has happened. The first address of a batch is
asked at once, the others when it has answered. Those that nobody confirms are deleted."""

Index(
    "ix_signups_waiting",
    signups.c.created_at,
    postgresql_where=signups.c.player_id.is_(None),
    sqlite_where=signups.c.player_id.is_(None),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("mark", String(64), nullable=False, index=True),
    Column("sent", Boolean, nullable=False),
    Column("name", String(20), nullable=False),
    Column("game", String(32), nullable=False),
    Column("options", JSON, nullable=False),
    Column("terms", JSON, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("state", State(InvitationState, 8), nullable=False),
    Column("board_id", Key, nullable=True),
)
"""Invitations to a mail address. `mark`: a keyed hash of the address, which itself is not kept;
`sent`: a letter went out; `name`: the userid that the inviter proposes, may be empty."""

uninvited = Table(
    "uninvited",
    metadata,
    Column("mark", String(64), primary_key=True),
    Column("since", Instant, nullable=False),
)
"""Addresses whose owners never want an invitation again, by their marks: the address is nowhere."""

wrong_passwords = Table(
    "wrong_passwords",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("wrong", SmallInteger, nullable=False),
    Column("since", Instant, nullable=False),
    Column("locked_until", Instant, nullable=True),
    Column("level", SmallInteger, nullable=False),
    Column("forget_at", Instant, nullable=False, index=True),
)
"""Wrong passwords by what they are counted for, and locks (`service.auth.lockout`). `key`: a hash;
`wrong`: number since `since`; `level`: locks in a row before the newest one; `forget_at`: when the
row no longer matters."""

password_sources = Table(
    "password_sources",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("forget_at", Instant, nullable=False, index=True),
)
"""Sources from which a player's password was right. `key`: a hash of the userid and the source."""
