"""Rows of addresses from which letters came back, and the letters that wait because of that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, insert, literal, select, update

from pbmserv.mail.letter_kinds import letters_that
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.delivery import kept_letters
from pbmserv.store.delivery import outbox as outbox_rows
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.accounts import addresses
from pbmserv.store.tables.columns import Instant
from pbmserv.store.tables.mail import LetterState, bounces, outbox

_OF_A_COPY = frozenset(
    {"id", "created_at", "state", "due_at", "attempts", "error", "sent_at", "claimed_by"}
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known against an address; see `service.delivery.bounces` for how it is counted."""

    address: str
    hard: int = 0
    soft: int = 0
    hard_at: datetime | None = None
    soft_at: datetime | None = None
    status: str = ""
    diagnostic: str = ""
    suspended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """A letter as a report finds it; `noted`: what an earlier one said, ``""`` for nothing."""

    id: int
    letter: str
    player_id: int | None
    recipient: str
    state: LetterState
    noted: str
    since: datetime


_STANDING = select(*columns_of(Standing, bounces))
_LETTER = select(
    *columns_of(
        Posted,
        outbox,
        noted=outbox.c.error,
        since=func.coalesce(outbox.c.sent_at, outbox.c.created_at),
    )
)


def letter(connection: Connection, letter_id: int) -> Posted | None:
    """A letter, locked, so that two reports about it come one after the other."""
    row = connection.execute(_LETTER.where(outbox.c.id == letter_id).with_for_update()).first()
    return Posted(*row) if row else None


def note(connection: Connection, found: Posted, words: str, now: datetime) -> None:
    """Write what a report said to a letter.

    A report proves that the letter went out, though its sender may not have written that down yet
    (see `outbox.sent`).
    """
    values: dict[str, Any] = {"error": words}
    if found.state == LetterState.QUEUED:
        values |= {"state": LetterState.SENT, "due_at": None, "claimed_by": None, "sent_at": now}
    connection.execute(update(outbox).where(outbox.c.id == found.id).values(values))


def set_aside(connection: Connection, found: Posted) -> None:
    """A letter that came back waits for its reader from now on."""
    _settle(connection, found, LetterState.RETURNED)


def send_later(connection: Connection, found: Posted, at: datetime, now: datetime) -> None:
    """Try a letter that came back once more, as a new one: what comes of that is told apart.

    It is the same mail while that is kept, and else made anew from the same words and record.
    """
    columns = [c for c in outbox.c if c.name not in _OF_A_COPY]
    copied = select(
        *columns,
        literal(now, Instant),
        literal(LetterState.QUEUED, outbox.c.state.type),
        literal(at, Instant),
        literal(0),
        literal(""),
    ).where(outbox.c.id == found.id)
    names = [*(c.name for c in columns), "created_at", "state", "due_at", "attempts", "error"]
    copy_id: int = connection.execute(
        insert(outbox).from_select(names, copied).returning(outbox.c.id)
    ).scalar_one()
    kept_letters.copy_bytes(connection, found.id, copy_id)
    _settle(connection, found, LetterState.FAILED)


def _settle(connection: Connection, found: Posted, state: LetterState) -> None:
    connection.execute(
        update(outbox).where(outbox.c.id == found.id).values(state=state, due_at=None)
    )


def standings(connection: Connection, which: Collection[str]) -> list[Standing]:
    """What is known against some addresses, locked; those without any row are left out."""
    found = connection.execute(
        _STANDING.where(bounces.c.address.in_(which)).order_by(bounces.c.address).with_for_update()
    )
    return [Standing(*row) for row in found]


def write(connection: Connection, standing: Standing) -> None:
    """Keep what is known against an address, in place of what was."""
    values = asdict(standing)
    statement = insert_into(connection, bounces).values(**values)
    connection.execute(statement.on_conflict_do_update(index_elements=["address"], set_=values))


def forgive(connection: Connection, which: Collection[str]) -> None:
    """Nothing is held against these addresses any more."""
    connection.execute(delete(bounces).where(bounces.c.address.in_(which)))


def forget_strangers(connection: Connection, which: Collection[str]) -> None:
    """Forget those of the addresses that are confirmed for nobody any more."""
    confirmed = exists().where(addresses.c.address == bounces.c.address)
    connection.execute(delete(bounces).where(and_(bounces.c.address.in_(which), ~confirmed)))


def waiting(connection: Connection, player_id: int) -> list[QueuedLetter]:
    """Letters that wait until this player can be reached, oldest first."""
    found = connection.execute(
        select(outbox.c.id)
        .where(
            outbox.c.player_id == player_id,
            outbox.c.state.in_((LetterState.PARKED, LetterState.RETURNED)),
        )
        .order_by(outbox.c.id)
    ).scalars()
    letters = (outbox_rows.letter(connection, number) for number in found)
    return [letter for letter in letters if letter is not None]


def send_again(connection: Connection, ids: Sequence[int], address: str, now: datetime) -> None:
    """These letters go to *address* now; made anew, for another one may stand in them."""
    if ids:
        kept_letters.drop_bytes(connection, outbox.c.id.in_(ids))
        connection.execute(
            update(outbox)
            .where(outbox.c.id.in_(ids))
            .values(state=LetterState.QUEUED, due_at=now, recipient=address, attempts=0, error="")
        )


def out_of_date(connection: Connection, ids: Sequence[int]) -> None:
    """Nobody wants to read these any more."""
    if ids:
        connection.execute(
            update(outbox)
            .where(outbox.c.id.in_(ids))
            .values(
                state=LetterState.FAILED, due_at=None, error="out of date when its reader was back"
            )
        )


def redirect(connection: Connection, player_id: int, old: str, new: str) -> None:
    """What is queued for a player's old address goes to the new one."""
    which = and_(
        outbox.c.player_id == player_id,
        outbox.c.recipient == old,
        outbox.c.state == LetterState.QUEUED,
        outbox.c.letter.not_in(letters_that(lambda kind: kind.always_tried)),
    )
    kept_letters.drop_bytes(connection, which)
    connection.execute(update(outbox).where(which).values(recipient=new))
