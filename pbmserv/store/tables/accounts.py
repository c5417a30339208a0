"""Tables of players and their accounts."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
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
from pbmserv.store.tables.columns import (
    Instant,
    JsonTerms,
    JsonTuple,
    Key,
    metadata,
    partial_index,
    state_type,
)


class PlayerState(StrEnum):
    """The state of a player; bots have no address, and nobody can send commands as a bot."""

    ACTIVE = "active"
    LEFT = "left"
    """Signed off; gets no letters."""
    BARRED = "barred"
    """Suspended by an operator."""
    DELETED = "deleted"
    """Personal data are removed; the userid is a neutral one."""
    BOT = "house"


class InvitationState(StrEnum):
    """The state of an invitation by mail address."""

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
    Column("retired_at", Instant, nullable=True),
)
"""Keys that sign reply addresses. The highest id signs; all that are not retired verify."""

players = Table(
    "players",
    metadata,
    Column("id", Key, primary_key=True),
    Column("userid", String(20), nullable=False, unique=True),
    Column("password_hash", String(200), nullable=False),
    Column("address", String(254), nullable=False),
    Column("reply_epoch", Integer, nullable=False, default=0),
    Column("created_at", Instant, nullable=False),
    Column("state", state_type(PlayerState, 8), nullable=False, server_default="active"),
    Column("format", String(8), nullable=False, server_default="html"),
    Column("tz", String(40), nullable=False, server_default="UTC"),
    Column("accept", String(4), nullable=False, server_default="ask"),
    Column("remind", String(40), nullable=False, server_default=""),
    Column("broadcasts", Boolean, nullable=False, server_default=false()),
    Column("announcements", Boolean, nullable=False, server_default=true()),
    Column("report", String(6), nullable=False, server_default="ask"),
    Column("labels", String(4), nullable=False, server_default="ask"),
    Column("public", Boolean, nullable=False, server_default=true()),
    Column("messages", String(6), nullable=False, server_default="all"),
    Column("digest_minute", SmallInteger, nullable=True),
    Column("digest_due", Instant, nullable=True),
    Column("unreachable_since", Instant, nullable=True),
)
"""Players and bots; `store.accounts.players.Player` explains most columns. Raising `reply_epoch`
revokes every reply address of the player. `digest_due`: time of the next digest."""

partial_index(
    "ix_players_digest_due", players.c.digest_due, where=players.c.digest_due.is_not(None)
)

blocks = Table(
    "blocks",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("blocked_id", ForeignKey("players.id"), primary_key=True),
)
"""Players whose messages and boards a player refuses. A row stays if the blocked name is
deleted."""

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
"""Absences of players: past, present and planned."""

notices = Table(
    "notices",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("kind", String(12), primary_key=True),
    Column("told_at", Instant, nullable=False),
)
"""When players last got notices that are not repeated for a while. `kind`: away (the question
whether they are out of the office), busy (too many mails), gone (their opponents were told that
they cannot be reached), astray (they wrote to an address for bounces), stays (they do not leave
after all), + and a game that cannot be played, or - and the subscription that one click has
ended."""

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
"""New addresses that wait for a confirmation. When the first address of a batch is confirmed,
addresses from before that batch are dropped."""

partial_index(
    "ix_address_changes_waiting",
    address_changes.c.created_at,
    where=address_changes.c.confirmed_at.is_(None),
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
"""Confirmed addresses in lower case. An address may belong to several players. `mailbox`:
mailbox to which it leads (`mail.mailboxes`); players with the same mailbox are one person."""

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
    Column("challenge", JSON(none_as_null=True), nullable=True),
)
"""Requests for userids that wait for a confirmation, one row for each address. The first confirmed
request gets the userid; then `player_id` is set. The first address of a batch is asked at once, the
others after it has answered. Unconfirmed requests are deleted after a while. `challenge`: waits for
the confirmation (`store.accounts.signups.WaitingChallenge`); the requests of an address that have
one have the same."""

partial_index("ix_signups_challenge", signups.c.address, where=signups.c.challenge.is_not(None))

partial_index("ix_signups_waiting", signups.c.created_at, where=signups.c.player_id.is_(None))

invitations = Table(
    "invitations",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("mark", String(64), nullable=False, index=True),
    Column("sent", Boolean, nullable=False),
    Column("name", String(20), nullable=False),
    Column("game", String(32), nullable=False),
    Column("options", JsonTuple, nullable=False),
    Column("terms", JsonTerms, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("state", state_type(InvitationState, 8), nullable=False),
    Column("board_id", Key, nullable=True),
)
"""Invitations to mail addresses, see `store.accounts.invitations.Invitation`."""

uninvited = Table(
    "uninvited",
    metadata,
    Column("mark", String(64), primary_key=True),
    Column("since", Instant, nullable=False),
)
"""Addresses that want no invitations, as keyed hashes."""

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
"""Counts of wrong passwords, and locks (`service.auth.lockout`). `key`: a hash; `wrong`: number
since `since`; `level`: number of locks in a row before the newest one; `forget_at`: time at
which the row no longer matters."""

password_sources = Table(
    "password_sources",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("forget_at", Instant, nullable=False, index=True),
)
"""Sources of right passwords. `key`: a hash of userid and source."""
