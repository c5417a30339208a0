"""The tables of what processes have counted: wrong passwords, mails."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, SmallInteger, String, Table

from pbmserv.store.core.columns import Instant, metadata

counting = Table(
    "counting",
    metadata,
    Column("book", String(16), primary_key=True),
    Column("process", String(16), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("told_at", Instant, nullable=False),
)
"""How much each process has told: `number` of its last batch in `counted`. A process tells one
batch after the other, so what another has seen of it is one number, whoever commits first."""

counted = Table(
    "counted",
    metadata,
    Column("book", String(16), primary_key=True),
    Column("process", String(16), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("part", SmallInteger, primary_key=True, autoincrement=False),
    Column("told_at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("events", LargeBinary, nullable=False),
    Index("ix_counted_until", "until"),
)
"""What was counted, in batches: `service.windows.Event`, packed, with hashes in place of addresses.
`until`: when nothing of it counts any more. `book`: what is counted, see `service.counting`."""
