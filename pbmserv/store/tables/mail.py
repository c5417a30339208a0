"""The tables of mail that came and of letters that go."""

from __future__ import annotations

from enum import StrEnum

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
    text,
)

from pbmserv.store.tables.columns import Instant, Key, PackedBytes, PackedJson, State, metadata

stores = Table(
    "stores",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("uuid", Text, nullable=False),
    Column("beat_at", Instant),
    info={"store": "mail"},
)
"""One row: the name of this mail store, made with it, and when a door lived last. A store that was
put in its place has another name, so that nothing in it looks carried out."""

arrivals = Table(
    "arrivals",
    metadata,
    Column("id", Key, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("recipient", Text, nullable=True),
    Column("sender", Text, nullable=True),
    Column("peer", Text, nullable=True),
    Column("hello", Text, nullable=True),
    Column("handed_on", Boolean, nullable=True),
    Column("raw", LargeBinary, nullable=False),
    Column("verdict", Text, nullable=True),
    Column("found", Text, nullable=True),
    Column("lane", Text, nullable=False),
    Column("player_id", Key, nullable=True),
    Column("received_at", Instant, nullable=False),
    Column("claimed_until", Instant, nullable=True),
    Column("claimed_by", String(120), nullable=True),
    info={"store": "mail"},
    sqlite_autoincrement=True,
)
"""Mails that we said 250 to and forms that pages handed in (`kind`: mail or form), as they came;
the row does not change when it is carried out. Within a `lane` they are carried out in order.
`player_id`: the player whose reply address it came to. On PostgreSQL the process `claimed_by` has
the row in hand until `claimed_until`."""

Index(
    "ix_arrivals_lane",
    arrivals.c.lane,
    arrivals.c.id,
    sqlite_where=arrivals.c.claimed_until.is_not(None),
)
"""For those who claim. On SQLite nobody does, and the index is empty there."""

Index(
    "ix_arrivals_claimed",
    arrivals.c.claimed_by,
    sqlite_where=arrivals.c.claimed_by.is_not(None),
    postgresql_where=arrivals.c.claimed_by.is_not(None),
)

settled = Table(
    "settled",
    metadata,
    Column("store", Text, primary_key=True),
    Column("number", Key, primary_key=True, autoincrement=False),
    Column("result", JSON(none_as_null=True), nullable=True),
    Column("settled_at", Instant, nullable=False),
)
"""What is carried out of `arrivals`: the mail store's uuid and the row's number, written in the
transaction that carried it out. `result`: what a page that waits is told."""


class MailState(StrEnum):
    """What became of a mail."""

    DONE = "done"
    ANSWERED = "answered"
    """It led to nothing but an answer."""
    IGNORED = "ignored"
    """A machine's mail."""
    KEPT = "kept"
    """It waits for the operator."""
    LATER = "later"
    """It waits until its player may send more."""


inbox = Table(
    "inbox",
    metadata,
    Column("id", Key, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("sender", String(254), nullable=False),
    Column("peer", String(64), nullable=False),
    Column("raw", PackedBytes, nullable=False),
    Column("state", State(MailState, 8), nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("received_at", Instant, nullable=False),
    Column("player_id", Key, nullable=True, index=True),
    Column("verdict", String(12), nullable=False, server_default="unchecked"),
    Column("found", Text, nullable=False, server_default=""),
    Column("octets", Integer, nullable=False, server_default="0"),
    Index("uq_inbox_digest_recipient", "digest", "recipient", unique=True),
    Index("ix_inbox_sender", "sender"),
    sqlite_autoincrement=True,
)
"""Every mail that was carried out, kept or put off. `octets`: the length of `raw`, which is emptied
in time.
Rows of mails that were answered or ignored end some time after that, see `store.delivery.inbox`.
`sender` is in lower case. `player_id`: who proved to speak in it, or whose letter's envelope sender
it came to; empty where `sender` says enough. By both a player's mails are found when all about that
player must go. `verdict`: whether the From address was proven, and in `found` by what (see
``mail.envelope.Verdict``)."""

Index(
    "ix_inbox_kept",
    inbox.c.id,
    postgresql_where=inbox.c.state == MailState.KEPT,
    sqlite_where=inbox.c.state == MailState.KEPT,
)

Index(
    "ix_inbox_text",
    inbox.c.state,
    inbox.c.received_at,
    inbox.c.octets,
    postgresql_where=text("octets > 0"),
    sqlite_where=text("octets > 0"),
)

Index(
    "ix_inbox_unused",
    inbox.c.received_at,
    postgresql_where=text("state IN ('answered', 'ignored')"),
    sqlite_where=text("state IN ('answered', 'ignored')"),
)


class LetterState(StrEnum):
    """What becomes of a letter."""

    QUEUED = "queued"
    HELD = "held"
    """An operator keeps it back."""
    PARKED = "parked"
    """Not sent because its address is given up; waits for its player to be heard of again."""
    RETURNED = "returned"
    """It came back from such an address, and waits likewise."""
    FAILED = "failed"
    SENT = "sent"
    DIGEST = "tray"
    """Waits for its player's one mail a day."""
    FOLDED = "folded"
    """It went into one."""
    COMING = "coming"
    """Waits for the bot's move, which is told in it (see `house_turns`)."""


UNSENT = tuple(
    state
    for state in LetterState
    if state not in {LetterState.FAILED, LetterState.SENT, LetterState.FOLDED}
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
    Column("words", PackedJson, nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("in_reply_to", String(998), nullable=False),
    Column("state", State(LetterState, 8), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Instant, nullable=True),
    Column("error", Text, nullable=False, default=""),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant, nullable=True),
    Column("claimed_by", String(120), nullable=True),
    Column("mail_id", Key, nullable=True),
    sqlite_autoincrement=True,
)
"""Letters. The row is written in the transaction that changed the game; its mail is made once, at
the first attempt, and kept in `letter_bytes`. While the process `claimed_by` has the
letter in hand, `due_at` is the end of its lease, so the letters of a dead process become due again;
`due_at` is empty once `state` is sent or failed.
`error` of a sent letter: what a report said of it.

Some weeks after a letter is over (see `IS_OVER`) its row goes, or keeps no more than who got what
and when, and what a reply to it needs (see `store.delivery.kept_letters`).
`mail_id`: the mail that led to it, so that a log can be read from one to the other."""

Index(
    "ix_outbox_claimed",
    outbox.c.claimed_by,
    sqlite_where=outbox.c.claimed_by.is_not(None),
    postgresql_where=outbox.c.claimed_by.is_not(None),
)

IS_OVER = text("state IN ('sent', 'failed', 'folded') AND message_id <> ''")
"""Letters that nobody will send any more, whose rows are still whole; `ix_outbox_over` knows
them. What is kept of a letter for good has no Message-ID."""

Index(
    "ix_outbox_over",
    outbox.c.created_at,
    postgresql_where=IS_OVER,
    sqlite_where=IS_OVER,
)

letter_bytes = Table(
    "letter_bytes",
    metadata,
    Column("letter_id", ForeignKey("outbox.id", ondelete="CASCADE"), primary_key=True),
    Column("raw", PackedBytes, nullable=False),
    Column("made_at", Instant, nullable=False, index=True),
)
"""Letters as they are mailed, so that every attempt sends the same. Apart from `outbox`, whose rows
change often: SQLite writes a whole row anew. A letter that has to be made again, or is to be kept
no longer, has no row."""

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
    postgresql_where=outbox.c.state == LetterState.DIGEST,
    sqlite_where=outbox.c.state == LetterState.DIGEST,
)

Index(
    "ix_outbox_due",
    outbox.c.due_at,
    postgresql_where=outbox.c.state == LetterState.QUEUED,
    sqlite_where=outbox.c.state == LetterState.QUEUED,
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
and `soft` are counted as `service.delivery.bounces` says; `hard_at`, `soft_at`: when last.
`suspended_at`: since when nothing is sent there. `diagnostic`: the mail server's words, at the last
one counted."""
