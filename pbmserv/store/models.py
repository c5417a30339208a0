"""The tables. `migrations/` builds the same ones; a test compares them.

Keys and queries go by board or by player, never across boards, so that rows can be
distributed by board id one day.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only when the key is declared INTEGER.
Key = BigInteger().with_variant(Integer, "sqlite")


class Instant(TypeDecorator[datetime]):
    """An aware moment in UTC; SQLite keeps it without the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        if dialect.name != "sqlite":
            return super().bind_processor(dialect)
        return lambda moment: None if moment is None else _text(moment)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


@lru_cache(maxsize=8)  # a mail writes its moment half a dozen times
def _text(moment: datetime) -> str:
    """A moment as SQLAlchemy's DateTime keeps it in SQLite."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


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
)
"""Active players. `address` is where their letters go; raising `reply_epoch` revokes
every reply address they ever got."""

addresses = Table(
    "addresses",
    metadata,
    Column("address", String(254), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("confirmed_at", Instant, nullable=False),
)
"""Confirmed addresses, lower case. One address may belong to several players."""

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
to be confirmed gets it; `player_id` is set when that has happened."""

boards = Table(
    "boards",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("thread", String(32), nullable=False),
    Column("status", String(10), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("plies", Integer, nullable=False, default=0),
    Column("outcome", JSON(none_as_null=True), nullable=True),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant, nullable=True),
    sqlite_autoincrement=True,
)
"""Boards. `status` is proposed, active, finished or declined; `thread` is a random word in
the Message-IDs of its mails."""

seats = Table(
    "seats",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False),
    Column("accepted_at", Instant, nullable=True),
    Index("ix_seats_player_id_board_id", "player_id", "board_id"),
)
"""Who sits where; `accepted_at` is empty until an invited player has said yes."""

plies = Table(
    "plies",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("seat", SmallInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("free", Boolean, nullable=False),
    Column("mail_id", Key, nullable=True),
    Column("created_at", Instant, nullable=False),
)
"""The log of moves: the truth about every board. The key keeps a move from counting twice."""

inbox = Table(
    "inbox",
    metadata,
    Column("id", Key, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("sender", String(254), nullable=False),
    Column("peer", String(64), nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("state", String(8), nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("received_at", Instant, nullable=False),
    Index("uq_inbox_digest_recipient", "digest", "recipient", unique=True),
    sqlite_autoincrement=True,
)
"""Every mail we said 250 to. `state`: done, ignored (automatic mail), kept (for the operator)."""

Index(
    "ix_inbox_kept",
    inbox.c.id,
    postgresql_where=inbox.c.state == "kept",
    sqlite_where=inbox.c.state == "kept",
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Key, primary_key=True),
    Column("letter", String(32), nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("player_id", Key, nullable=True),
    Column("board_id", Key, nullable=True),
    Column("ply", Integer, nullable=True),
    Column("seat", SmallInteger, nullable=True),
    Column("words", JSON, nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("in_reply_to", String(998), nullable=False),
    Column("state", String(8), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Instant, nullable=True),
    Column("raw", LargeBinary, nullable=True),
    Column("error", Text, nullable=False, default=""),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant, nullable=True),
    sqlite_autoincrement=True,
)
"""Letters. The row is written in the transaction that changed the game; `raw` is made once, at
the first attempt, and kept. `due_at` is pushed ahead while a worker has claimed the row, so a
crashed worker's letters come back by themselves; it is empty once `state` is sent or failed."""

Index(
    "ix_outbox_due",
    outbox.c.due_at,
    postgresql_where=outbox.c.state == "queued",
    sqlite_where=outbox.c.state == "queued",
)
