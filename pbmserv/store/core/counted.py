"""Batches of what processes have counted: told once each, and read by all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, delete, func, or_, select, tuple_

from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables import counted
from pbmserv.store.tables.mail import counting

MOST_OCTETS = 4_000_000
"""Kept of each book, about 100,000 events; the oldest go first. Only a process that starts reads
that far back."""

_ROW = 100
"""Octets of a row beside its events, about."""

SILENT = timedelta(days=40)
"""A process of which nothing was heard for so long is forgotten: nothing it told still counts."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a process counted in a moment.

    Attributes:
        process: some random letters.
        number: 1, 2, 3 … for each process.
        parts: until when each counts, and its events.
    """

    process: str
    number: int
    parts: Sequence[tuple[datetime, bytes]]


@dataclass(frozen=True, slots=True)
class Told:
    """A part of another process's batch."""

    process: str
    number: int
    events: bytes


def tell(connection: Connection, book: str, batch: Batch, now: datetime) -> None:
    """Write a batch down; once, also if the end of an earlier try was never heard of."""
    connection.execute(
        insert_into(connection, counted).on_conflict_do_nothing(),
        [
            {
                "book": book,
                "process": batch.process,
                "number": batch.number,
                "part": part,
                "told_at": now,
                "until": until,
                "events": events,
            }
            for part, (until, events) in enumerate(batch.parts)
        ],
    )
    row = insert_into(connection, counting).values(
        book=book, process=batch.process, number=batch.number, told_at=now
    )
    connection.execute(
        row.on_conflict_do_update(
            index_elements=["book", "process"],
            set_={"number": row.excluded.number, "told_at": now},
        )
    )


def news(connection: Connection, book: str, process: str, seen: Mapping[str, int]) -> list[Told]:
    """What others than *process* have told since the number that was seen of each."""
    others = connection.execute(
        select(counting.c.process, counting.c.number).where(
            counting.c.book == book, counting.c.process != process
        )
    ).all()
    newer = [other for other, number in others if number > seen.get(other, 0)]
    if not newer:
        return []
    of_each = [
        and_(counted.c.process == other, counted.c.number > seen.get(other, 0)) for other in newer
    ]
    wanted = or_(*of_each) if seen else counted.c.process != process
    found = connection.execute(
        select(*columns_of(Told, counted))
        .where(counted.c.book == book, wanted)
        .order_by(counted.c.process, counted.c.number)
    )
    return [Told(*row) for row in found]


def prune(connection: Connection, book: str, now: datetime) -> None:
    """Forget what no longer counts, and the oldest where there is too much."""
    connection.execute(delete(counted).where(counted.c.book == book, counted.c.until < now))
    newest_first = (counted.c.told_at.desc(), counted.c.process, counted.c.number, counted.c.part)
    sizes = (
        select(
            counted.c.process,
            counted.c.number,
            func.sum(func.length(counted.c.events) + _ROW)
            .over(order_by=newest_first)
            .label("so_far"),
        )
        .where(counted.c.book == book)
        .subquery()
    )
    too_old = select(sizes.c.process, sizes.c.number).where(sizes.c.so_far > MOST_OCTETS)
    connection.execute(
        delete(counted).where(
            counted.c.book == book, tuple_(counted.c.process, counted.c.number).in_(too_old)
        )
    )
    connection.execute(
        delete(counting).where(counting.c.book == book, counting.c.told_at < now - SILENT)
    )
