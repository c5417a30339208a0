"""Tables of what operators did: their audit, announcements, blocked senders, and closed games."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Integer, String, Table, Text

from pbmserv.store.tables.columns import Instant, Key, metadata

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
"""Actions of operators, see `store.audit.Entry`."""

announcements = Table(
    "announcements",
    metadata,
    Column("id", Key, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("is_service", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_player", Key, nullable=False),
    Column("reached", Key, nullable=False),
    Column("sent", Integer, nullable=False),
    Column("finished_at", Instant, nullable=True),
)
"""Operators' announcements. `digest`: of title and text, so that each is sent once. Its letters are
queued in the order of the players' ids, from `reached` (the last id so far) to `last_player` (the
last id when it was made). `sent`: number of its letters."""

blocked_senders = Table(
    "blocked_senders",
    metadata,
    Column("name", String(254), primary_key=True),
    Column("until", Instant, nullable=True),
    Column("created_at", Instant, nullable=False),
)
"""Addresses, domains and networks (such as 192.0.2.0/24) whose mail the door refuses. `until`: null
if the block has no end."""

closed_games = Table(
    "closed_games",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("closed_at", Instant, nullable=False),
)
"""Games of which no new boards are created; running boards go on."""
