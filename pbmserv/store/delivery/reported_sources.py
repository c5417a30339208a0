"""Rows of network addresses that sent mail in our name, as other mail servers report them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, func, select

from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables.mail import reported_sources

KEPT = timedelta(days=60)
MOST = 500
"""Largest number of rows; anybody may send a report."""
OTHERS = "others"
"""Source of messages for which there is no row left."""


@dataclass(frozen=True, slots=True)
class ReportedSource:
    """Messages that a network address sent in our name.

    Attributes:
        passed, failed: number of messages that passed and failed DMARC.
    """

    source: str
    passed: int
    failed: int


def add(connection: Connection, sources: Iterable[ReportedSource], now: datetime) -> None:
    """Add the messages of a report, and forget sources without new reports."""
    connection.execute(delete(reported_sources).where(reported_sources.c.newest_at < now - KEPT))
    counted = set(connection.execute(select(reported_sources.c.source)).scalars())
    for reported in sources:
        source = reported.source if reported.source in counted or len(counted) < MOST else OTHERS
        counted.add(source)
        new = insert_into(connection, reported_sources).values(
            source=source, passed=reported.passed, failed=reported.failed, newest_at=now
        )
        connection.execute(
            new.on_conflict_do_update(
                index_elements=["source"],
                set_={
                    "passed": reported_sources.c.passed + new.excluded.passed,
                    "failed": reported_sources.c.failed + new.excluded.failed,
                    "newest_at": now,
                },
            )
        )


def totals(connection: Connection) -> tuple[int, int, int]:
    """Return the numbers of sources, and of messages that passed and failed."""
    row = connection.execute(
        select(
            func.count(),
            func.coalesce(func.sum(reported_sources.c.passed), 0),
            func.coalesce(func.sum(reported_sources.c.failed), 0),
        ).select_from(reported_sources)
    ).one()
    return int(row[0]), int(row[1]), int(row[2])


def worst(connection: Connection, most: int) -> list[ReportedSource]:
    """Return sources of failed messages, those with most first."""
    failed = reported_sources.c.failed
    statement = select(*columns_of(ReportedSource, reported_sources)).where(failed > 0)
    rows = connection.execute(statement.order_by(failed.desc()).limit(most))
    return [ReportedSource(*row) for row in rows]
