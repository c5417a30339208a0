"""The tables of mail that came and of letters that go."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    false,
    text,
)

from pbmserv.store.columns import Instant, Key, metadata

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
    Column("player_id", Key, nullable=True, index=True),
    Column("verdict", String(12), nullable=False, server_default="unchecked"),
    Column("found", Text, nullable=False, server_default=""),
    Index("uq_inbox_digest_recipient", "digest", "recipient", unique=True),
    Index("ix_inbox_sender", "sender"),
    sqlite_autoincrement=True,
)
"""Every mail we said 250 to. `state`: done, ignored (automatic mail), kept (for the operator).
`sender` is in lower case. `player_id`: who proved to speak in it, or whose letter's envelope sender
it came to; empty where `sender` says enough. By both a player's mails are found when all about that
player must go. `verdict`: whether the From address was proven, and in `found` by what (see
``receive.mail.Verdict``)."""

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
    Column("player_id", Key, nullable=True, index=True),
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
    Column("claimed", Boolean, nullable=False, server_default=false()),
    Column("mail_id", Key, nullable=True),
    sqlite_autoincrement=True,
)
"""Letters. The row is written in the transaction that changed the game; `raw` is made once, at
the first attempt, and kept. `due_at` is pushed ahead while a worker has `claimed` the row, so a
crashed worker's letters come back by themselves; it is empty once `state` is sent or failed.
`state` tray: waits for its player's one mail a day, and becomes folded when it went into one.
`state` parked: not sent because its address is given up; returned: it came back from there. Both
wait for their player to be heard of again. `error` of a sent letter: what a report said of it.
`state` coming: waits for the house's move, which is told in it (see `house_tables`).
`mail_id`: the mail that led to it, so that a log can be read from one to the other."""

Index(
    "ix_outbox_open",
    outbox.c.state,
    outbox.c.id,
    postgresql_where=text("state <> 'sent' AND state <> 'folded'"),
    sqlite_where=text("state <> 'sent' AND state <> 'folded'"),
)
"""What has not gone out, by state: few of all letters."""

Index(
    "ix_outbox_tray",
    outbox.c.player_id,
    postgresql_where=outbox.c.state == "tray",
    sqlite_where=outbox.c.state == "tray",
)

Index(
    "ix_outbox_due",
    outbox.c.due_at,
    postgresql_where=outbox.c.state == "queued",
    sqlite_where=outbox.c.state == "queued",
)

bounces = Table(
    "bounces",
    metadata,
    Column("address", String(254), primary_key=True),
    Column("hard", SmallInteger, nullable=False),
    Column("soft", SmallInteger, nullable=False),
    Column("hard_at", Instant, nullable=True),
    Column("soft_at", Instant, nullable=True),
    Column("status", String(12), nullable=False),
    Column("diagnostic", String(300), nullable=False),
    Column("suspended_at", Instant, nullable=True),
)
"""Confirmed addresses (lower case) from which letters came back lately; most have no row. `hard`
and `soft` are counted as `service.bounces` says; `hard_at`, `soft_at`: when last. `suspended_at`:
since when nothing is sent there. `diagnostic`: the mail server's words, at the last one counted."""
