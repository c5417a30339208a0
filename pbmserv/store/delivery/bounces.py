"""Rows of addresses from which letters came back, and of letters that wait because of that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from pbmserv.mail.letter_kinds import letters_that
from pbmserv.store.core.statements import columns_of, first_row, insert_into
from pbmserv.store.delivery.outbox import COLUMNS, QueuedLetter
from pbmserv.store.delivery.shares import of_new_row
from pbmserv.store.tables.accounts import addresses
from pbmserv.store.tables.mail import LetterState, bounces, outbox

_NOT_COPIED = frozenset(
    {"id", "share", "created_at", "state", "due_at", "attempts", "error", "sent_at", "claimed_by"}
)
"""Columns that a copy of a letter has of its own."""


@dataclass(frozen=True, slots=True)
class BounceRecord:
    """The bounces of an address; `service.delivery.bounces` says how they are counted."""

    address: str
    hard: int = 0
    soft: int = 0
    hard_at: datetime | None = None
    soft_at: datetime | None = None
    status: str = ""
    diagnostic: str = ""
    suspended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BouncedLetter:
    """A letter that a bounce is about.

    Attributes:
        earlier_reason: reason in an earlier bounce, ``""`` if there was none.
        since: time at which it was sent, or queued.
    """

    id: int
    letter: str
    player_id: int | None
    recipient: str
    state: LetterState
    earlier_reason: str
    since: datetime


_RECORD = select(*columns_of(BounceRecord, bounces))
_LETTER = select(
    *columns_of(
        BouncedLetter,
        outbox,
        earlier_reason=outbox.c.error,
        since=func.coalesce(outbox.c.sent_at, outbox.c.created_at),
    )
)


def lock_letter(connection: Connection, letter_id: int) -> BouncedLetter | None:
    """Return a letter and lock its row, so that bounces about it are handled one by one."""
    statement = _LETTER.where(outbox.c.id == letter_id).with_for_update()
    return first_row(connection, BouncedLetter, statement)


def note_reason(connection: Connection, letter: BouncedLetter, reason: str, now: datetime) -> None:
    """Record the reason of a bounce.

    A bounce proves that the letter was sent, even if its sender has not settled it yet (see
    `letter_claims.mark_sent`).
    """
    values: dict[str, Any] = {"error": reason}
    if letter.state == LetterState.QUEUED:
        values |= {"state": LetterState.SENT, "due_at": None, "claimed_by": None, "sent_at": now}
    connection.execute(update(outbox).where(outbox.c.id == letter.id).values(values))


def hold(connection: Connection, letter: BouncedLetter) -> None:
    """Let a letter that came back wait for its reader."""
    _settle(connection, letter, LetterState.RETURNED)


def send_later(connection: Connection, letter: BouncedLetter, at: datetime, now: datetime) -> None:
    """Send a letter that came back again as a new one, with bounces of its own.

    It is made from the same words and record.
    """
    new_values = {
        **of_new_row(connection, outbox, letter.recipient),
        "created_at": now,
        "state": LetterState.QUEUED,
        "due_at": at,
        "attempts": 0,
        "error": "",
    }
    columns: dict[str, ColumnElement[Any]] = {
        column.name: column for column in outbox.c if column.name not in _NOT_COPIED
    }
    for name, value in new_values.items():
        is_expression = isinstance(value, ColumnElement)  # the number, on PostgreSQL
        columns[name] = value if is_expression else literal(value, outbox.c[name].type)
    copied = select(*columns.values()).where(outbox.c.id == letter.id)
    connection.execute(insert(outbox).from_select(list(columns), copied))
    _settle(connection, letter, LetterState.FAILED)


def _settle(connection: Connection, letter: BouncedLetter, state: LetterState) -> None:
    connection.execute(
        update(outbox).where(outbox.c.id == letter.id).values(state=state, due_at=None)
    )


def records_of(connection: Connection, bounced: Collection[str]) -> list[BounceRecord]:
    """Return and lock the rows of some addresses; addresses without bounces have none."""
    rows = connection.execute(
        _RECORD.where(bounces.c.address.in_(bounced)).order_by(bounces.c.address).with_for_update()
    )
    return [BounceRecord(*row) for row in rows]


def store(connection: Connection, record: BounceRecord) -> None:
    """Store the bounces of an address."""
    values = asdict(record)
    statement = insert_into(connection, bounces).values(**values)
    connection.execute(statement.on_conflict_do_update(index_elements=["address"], set_=values))


def forgive(connection: Connection, which: Collection[str]) -> None:
    """Forget the bounces of addresses."""
    connection.execute(delete(bounces).where(bounces.c.address.in_(which)))


def forget_strangers(connection: Connection, which: Collection[str]) -> None:
    """Forget the bounces of those addresses that are confirmed for no player."""
    confirmed = exists().where(addresses.c.address == bounces.c.address)
    connection.execute(delete(bounces).where(and_(bounces.c.address.in_(which), ~confirmed)))


def waiting(connection: Connection, player_id: int) -> list[QueuedLetter]:
    """Return letters that wait until this player can be reached, oldest first."""
    rows = connection.execute(
        select(*COLUMNS)
        .where(
            outbox.c.player_id == player_id,
            outbox.c.state.in_((LetterState.PARKED, LetterState.RETURNED)),
        )
        .order_by(outbox.c.id)
    )
    return [QueuedLetter(*row) for row in rows]


def send_again(connection: Connection, ids: Sequence[int], address: str, now: datetime) -> None:
    """Queue letters to *address*."""
    if ids:
        connection.execute(
            update(outbox)
            .where(outbox.c.id.in_(ids))
            .values(state=LetterState.QUEUED, due_at=now, recipient=address, attempts=0, error="")
        )


def fail_outdated(connection: Connection, ids: Sequence[int]) -> None:
    """Fail letters that are out of date."""
    if ids:
        connection.execute(
            update(outbox)
            .where(outbox.c.id.in_(ids))
            .values(
                state=LetterState.FAILED, due_at=None, error="out of date when its reader was back"
            )
        )


def redirect(connection: Connection, player_id: int, old: str, new: str) -> None:
    """Send the queued letters to a player's old address to the new one."""
    which = and_(
        outbox.c.player_id == player_id,
        outbox.c.recipient == old,
        outbox.c.state == LetterState.QUEUED,
        outbox.c.letter.not_in(letters_that(lambda kind: kind.always_tried)),
    )
    connection.execute(update(outbox).where(which).values(recipient=new))
