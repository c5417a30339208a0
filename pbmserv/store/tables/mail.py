"""Tables of mails that arrive, and of letters.

`share`: part of a queue that one node of a distributed PostgreSQL has, see `store.delivery.shares`.
"""

from __future__ import annotations

from enum import StrEnum

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
    text,
)

from pbmserv.store.tables.columns import (
    Instant,
    Key,
    PackedBytes,
    PackedJson,
    metadata,
    partial_index,
    state_type,
)

stores = Table(
    "stores",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("uuid", Text, nullable=False),
    Column("beat_at", Instant),
    info={"store": "mail"},
)
"""One row: the UUID of this mail store, and when a door was last alive. A new store in its place
has another UUID, so that none of its arrivals looks carried out."""

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
    Column("share", SmallInteger, nullable=False, server_default="0"),
    info={"store": "mail"},
    sqlite_autoincrement=True,
)
"""Accepted mails and requests of pages, see `store.delivery.arrivals.NewArrival`. A row does not
change when it is carried out. On PostgreSQL the process `claimed_by` has it in hand until
`claimed_until`."""

Index(
    "ix_arrivals_lane",
    arrivals.c.lane,
    arrivals.c.id,
    sqlite_where=arrivals.c.claimed_until.is_not(None),
)
"""Index for claims. It is empty on SQLite, where arrivals are not claimed."""

partial_index(
    "ix_arrivals_claimed", arrivals.c.claimed_by, where=arrivals.c.claimed_by.is_not(None)
)

settled = Table(
    "settled",
    metadata,
    Column("store", Text, primary_key=True),
    Column("number", Key, primary_key=True, autoincrement=False),
    Column("result", JSON(none_as_null=True), nullable=True),
    Column("settled_at", Instant, nullable=False),
)
"""Arrivals that are carried out: UUID of the mail store and number of the row, added in the
transaction that carried it out. `result`: answer for the page that waits."""


class MailState(StrEnum):
    """The state of a mail."""

    DONE = "done"
    ANSWERED = "answered"
    """It had no effect but an answer."""
    IGNORED = "ignored"
    """A program wrote it."""
    KEPT = "kept"
    """It waits for the operator."""
    LATER = "later"
    """It waits until its player may send more."""
    PAUSED = "paused"
    """It waits until its board's game, whose key is its `error`, can be played again."""


inbox = Table(
    "inbox",
    metadata,
    Column("id", Key, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("recipient", String(254), nullable=False),
    Column("sender", String(254), nullable=False),
    Column("peer", String(64), nullable=False),
    Column("raw", PackedBytes, nullable=False),
    Column("state", state_type(MailState, 8), nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("received_at", Instant, nullable=False),
    Column("player_id", Key, nullable=True, index=True),
    Column("verdict", String(12), nullable=False, server_default="unchecked"),
    Column("found", Text, nullable=False, server_default=""),
    Column("octets", Integer, nullable=False, server_default="0"),
    Column("share", SmallInteger, nullable=False, server_default="0"),
    Index("uq_inbox_digest_recipient", "digest", "recipient", unique=True),
    Index("ix_inbox_sender", "sender"),
    sqlite_autoincrement=True,
)
"""Mails that were carried out, kept or put off. `octets`: length of `raw`, which is emptied
after a while. Rows of mails that were answered or ignored are deleted later, see
`store.delivery.inbox`. `sender`: in lower case. `player_id`: the proven sender, or the reader of
the letter to whose envelope sender it was sent; null if `sender` identifies the player. Both
find the mails of a player who is erased. `verdict`, `found`: whether the From address was proven
and how, see ``mail.envelope.Verdict``."""

partial_index("ix_inbox_kept", inbox.c.id, where=inbox.c.state == MailState.KEPT)

partial_index(
    "ix_inbox_text", inbox.c.state, inbox.c.received_at, inbox.c.octets, where=text("octets > 0")
)

partial_index(
    "ix_inbox_unused", inbox.c.received_at, where=text("state IN ('answered', 'ignored')")
)


class LetterState(StrEnum):
    """The state of a letter."""

    QUEUED = "queued"
    HELD = "held"
    """An operator holds it."""
    PARKED = "parked"
    """Not sent because its address is given up; waits for a mail of its player."""
    RETURNED = "returned"
    """Came back from such an address; waits for a mail of its player."""
    FAILED = "failed"
    SENT = "sent"
    DIGEST = "tray"
    """Waits for its player's digest."""
    FOLDED = "folded"
    """Is part of a digest."""
    COMING = "coming"
    """Waits for a bot's move (see `house_turns`) or a report."""


UNSENT = tuple(
    state
    for state in LetterState
    if state not in {LetterState.FAILED, LetterState.SENT, LetterState.FOLDED}
)
"""States of letters that may still be sent."""

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
    Column("state", state_type(LetterState, 8), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Instant, nullable=True),
    Column("error", Text, nullable=False, default=""),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant, nullable=True),
    Column("claimed_by", String(120), nullable=True),
    Column("mail_id", Key, nullable=True),
    Column("share", SmallInteger, nullable=False, server_default="0"),
    Column("waits_for", JSON(none_as_null=True), nullable=True),
    sqlite_autoincrement=True,
)
"""Letters. A row is added in the transaction that changed the game. Each attempt to send the
letter makes it from the row and the record. While the process `claimed_by` has the letter in hand,
`due_at` is the end of its lease, so that letters of a dead process become due again.
`due_at` is null when the letter is sent or failed. `error` of a sent letter: reason of a bounce.
`mail_id`: mail that caused the letter. `waits_for`: boards of the bots' moves and reports for which
it waits in the state coming, see `house_turns`.

Some weeks after a letter is over (see `IS_OVER`), its row is deleted, or loses its words (see
`store.delivery.old_letters`)."""

partial_index("ix_outbox_claimed", outbox.c.claimed_by, where=outbox.c.claimed_by.is_not(None))

IS_OVER = text("state IN ('sent', 'failed', 'folded') AND message_id <> ''")
"""Condition for letters that are settled and have their words; rows without words have no
Message-ID. `ix_outbox_over` is the index for it."""

partial_index("ix_outbox_over", outbox.c.created_at, where=IS_OVER)

partial_index(
    "ix_outbox_open",
    outbox.c.state,
    outbox.c.id,
    where=text("state <> 'sent' AND state <> 'folded'"),
)
"""Index of unsent letters by state; they are few."""

partial_index("ix_outbox_tray", outbox.c.player_id, where=outbox.c.state == LetterState.DIGEST)

partial_index("ix_outbox_due", outbox.c.due_at, where=outbox.c.state == LetterState.QUEUED)

reported_sources = Table(
    "reported_sources",
    metadata,
    Column("source", String(45), primary_key=True),
    Column("passed", Key, nullable=False),
    Column("failed", Key, nullable=False),
    Column("newest_at", Instant, nullable=False),
)
"""Messages in our name by the network address that sent them, as other mail servers reported them
(DMARC). `newest_at`: time of the newest report."""

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
"""Confirmed addresses (lower case) from which letters came back recently. `hard`, `soft`:
counts, see `service.delivery.bounces`; `hard_at`, `soft_at`: time of the last one.
`suspended_at`: time since which nothing is sent there. `diagnostic`: text of the mail server in
the last counted bounce."""
