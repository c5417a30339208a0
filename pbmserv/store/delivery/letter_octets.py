"""Stored octets of letters: each attempt to send a letter sends the same ones."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, delete, insert, literal, select

from pbmserv.store.delivery.shares import share_of
from pbmserv.store.tables.mail import letter_bytes, outbox


def of_letter(connection: Connection, letter_id: int) -> bytes | None:
    """Return the octets of a letter, `None` if they are not made yet or no longer stored.

    `letters.compose` makes them again from the record, as long as the row has its words.
    """
    raw: bytes | None = connection.execute(
        select(letter_bytes.c.raw).where(letter_bytes.c.letter_id == letter_id)
    ).scalar()
    return raw


def copy(connection: Connection, letter_id: int, copy_id: int) -> None:
    """Store the octets of a letter for a copy of it, too."""
    share = literal(share_of(connection, copy_id))
    copied = select(literal(copy_id), share, letter_bytes.c.raw, letter_bytes.c.made_at).where(
        letter_bytes.c.letter_id == letter_id
    )
    names = ["letter_id", "share", "raw", "made_at"]
    connection.execute(insert(letter_bytes).from_select(names, copied))


def drop(connection: Connection, which: ColumnElement[bool]) -> None:
    """Delete the octets of letters; unsent ones are made again. *which* is about `outbox`."""
    connection.execute(
        delete(letter_bytes).where(letter_bytes.c.letter_id.in_(select(outbox.c.id).where(which)))
    )
