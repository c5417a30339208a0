"""Play's notes, in the game store, about the arrivals that it has carried out.

On SQLite they say which arrivals of the door's store are done. On both databases they hold the
answers for pages.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from pbmserv.errors import ServerFault
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import in_chunks
from pbmserv.store.delivery.arrivals import Arrival
from pbmserv.store.tables.mail import settled


class Gone(ServerFault):
    """An arrival was carried out by another process."""


_SETTLE = Prepared(insert(settled), ("store", "number", "result", "settled_at"))


def settle(
    connection: Connection, arrival: Arrival, now: datetime, result: Any, *, store: str
) -> None:
    """Record that an arrival is done, in the transaction that carries it out.

    Args:
        result: answer for the page that waits for a form.
        store: UUID of the mail store.

    Raises:
        Gone: it was done before.
    """
    note = {"store": store, "number": arrival.id, "result": result, "settled_at": now}
    try:
        _SETTLE.run(connection, note)
    except IntegrityError as error:
        raise Gone("carried out before") from error


def numbers_since(connection: Connection, store: str, number: int) -> set[int]:
    """Return the numbers of settled arrivals, from *number* on."""
    statement = select(settled.c.number).where(settled.c.store == store, settled.c.number >= number)
    return set(connection.execute(statement).scalars())


def numbers_before(connection: Connection, store: str, before: datetime) -> set[int]:
    """Return the numbers of arrivals that were settled before a moment."""
    statement = select(settled.c.number).where(
        settled.c.store == store, settled.c.settled_at < before
    )
    return set(connection.execute(statement).scalars())


def result_of(connection: Connection, store: str, number: int) -> tuple[bool, Any]:
    """Return whether an arrival is settled, and its result."""
    row = connection.execute(
        select(settled.c.result).where(settled.c.store == store, settled.c.number == number)
    ).first()
    return (False, None) if row is None else (True, row[0])


def forget(connection: Connection, store: str, gone: Collection[int]) -> None:
    """Delete the records of arrivals that the door has removed."""
    for chunk in in_chunks(list(gone)):
        of_chunk = settled.c.number.in_(chunk)
        connection.execute(delete(settled).where(settled.c.store == store, of_chunk))


def prune(connection: Connection, before: datetime) -> None:
    """Delete the results of forms from before a moment."""
    connection.execute(delete(settled).where(settled.c.settled_at < before))
