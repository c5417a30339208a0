"""Letters as they are mailed: kept from the first attempt on, dropped some days after the last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    bindparam,
    delete,
    insert,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.store.core.statements import Prepared
from pbmserv.store.delivery.outbox import FAREWELL
from pbmserv.store.tables import letter_bytes, outbox
from pbmserv.store.tables.columns import Instant, pack

_MADE = select(
    outbox.c.id,
    bindparam("packed", type_=LargeBinary),
    bindparam("now", type_=Instant),
).where(
    outbox.c.id == bindparam("letter_id"),
    outbox.c.recipient != "",  # not what was forgotten in the meantime
    outbox.c.letter != FAREWELL,
)
_KEEP = {
    name: Prepared(
        dialect.insert(letter_bytes)
        .from_select(["letter_id", "raw", "made_at"], _MADE)
        .on_conflict_do_nothing()
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


def packed(made: Mapping[int, bytes]) -> dict[int, bytes]:
    """Letters by number as `keep` wants them: the work of a tenth of a millisecond for each, which
    nobody needs to do inside a transaction."""
    return {letter_id: pack(raw) for letter_id, raw in made.items()}


def keep(connection: Connection, made: Mapping[int, bytes], now: datetime) -> None:
    """Keep letters that were made, so that every retry is the same mail.

    Args:
        made: see `packed`.
    """
    _KEEP[connection.dialect.name].run_each(
        connection,
        [{"letter_id": i, "packed": raw, "now": now} for i, raw in made.items()],
    )


def of(connection: Connection, letter_id: int) -> bytes | None:
    """A letter as it was mailed, or is going to be; ``None``: not made yet, or not kept any more.

    `send.composing` makes it again from the record, as long as the words of its row are kept.
    """
    found: bytes | None = connection.execute(
        select(letter_bytes.c.raw).where(letter_bytes.c.letter_id == letter_id)
    ).scalar()
    return found


def copy(connection: Connection, letter_id: int, copy_id: int) -> None:
    """Keep for a letter's copy what is kept for the letter."""
    kept = select(literal(copy_id), letter_bytes.c.raw, letter_bytes.c.made_at).where(
        letter_bytes.c.letter_id == letter_id
    )
    connection.execute(insert(letter_bytes).from_select(["letter_id", "raw", "made_at"], kept))


def drop(connection: Connection, which: ColumnElement[bool]) -> None:
    """Those of the letters that will be sent are made anew; *which* is about rows of `outbox`."""
    connection.execute(
        delete(letter_bytes).where(letter_bytes.c.letter_id.in_(select(outbox.c.id).where(which)))
    )
