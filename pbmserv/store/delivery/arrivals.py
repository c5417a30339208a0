"""Rows of arrivals, the queue between the door and play.

The door adds them. Play carries out each once, and records that in the same transaction. On SQLite,
door and play write to different files: play notes the arrival's number (`settled_arrivals`), and
the door removes settled arrivals. On PostgreSQL, play claims rows (`arrival_claims`) and removes
them itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select

from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import in_chunks
from pbmserv.store.delivery import mail_stores
from pbmserv.store.delivery.shares import next_number, share_for, shares_of, within
from pbmserv.store.tables.mail import arrivals

Kind: TypeAlias = Literal["mail", "over", "form", "press"]
OF_PAGES: frozenset[Kind] = frozenset({"form", "press"})
"""Kinds of arrivals that come from pages and have results."""
NO_MAIL = Envelope("", "", b"")
"""Envelope of arrivals that are no mails."""

REMOVAL = "removal"
"""Name of the lock for the removal of settled arrivals, see `file_locks.exclusive_work`."""


@dataclass(frozen=True, slots=True)
class NewArrival:
    """A mail, or a request of a page or the door, that is to be stored.

    Attributes:
        kind: ``mail``; ``over``: a mail was not taken, and its writer is to be told; ``form``: a
            form of a page; ``press``: a player's command from a page.
        envelope: the mail; `NO_MAIL` for the other kinds.
        lane: arrivals of one lane are carried out in their order, and share their part of the time.
        player_id: the player of the reply address or page.
        body: the facts of the other kinds, as JSON.
    """

    kind: Kind
    envelope: Envelope
    lane: str
    received_at: datetime
    verdict: Verdict = UNCHECKED
    player_id: int | None = None
    body: bytes = b""

    @classmethod
    def without_mail(
        cls, kind: Kind, body: bytes, lane: str, received_at: datetime, player_id: int | None = None
    ) -> NewArrival:
        """Return an arrival of another kind than ``mail``."""
        return NewArrival(kind, NO_MAIL, lane, received_at, player_id=player_id, body=body)


@dataclass(frozen=True, slots=True)
class Arrival(NewArrival):
    """A stored arrival; its number is never given again."""

    id: int = field(default=0, kw_only=True)


_NAMES = (
    *("kind", "recipient", "sender", "peer", "hello", "handed_on", "raw"),
    *("verdict", "found", "lane", "player_id", "received_at"),
)
_ADD = {
    name: Prepared(statement.returning(arrivals.c.id), (*_NAMES, "share"))
    for name, statement in (
        ("sqlite", insert(arrivals)),
        ("postgresql", insert(arrivals).values(id=next_number(arrivals))),
    )
}
SELECT_ARRIVALS = select(arrivals.c.id, *(arrivals.c[name] for name in _NAMES))
_NEXT = Prepared(
    SELECT_ARRIVALS.where(arrivals.c.id > bindparam("after"))
    .order_by(arrivals.c.id)
    .limit(bindparam("most"))
)


def add(connection: Connection, new: NewArrival) -> int:
    """Store an arrival and return its number."""
    share = share_for(connection, new.lane)
    row = {
        "kind": new.kind,
        "recipient": new.envelope.recipient,
        "sender": new.envelope.sender,
        "peer": new.envelope.peer,
        "hello": new.envelope.hello,
        "handed_on": new.envelope.handed_on,
        "raw": new.envelope.raw or new.body,
        "verdict": new.verdict.result,
        "found": new.verdict.checks,
        "lane": new.lane,
        "player_id": new.player_id,
        "received_at": new.received_at,
        "share": share,
        "new_share": share,
    }
    return int(_ADD[connection.dialect.name].run(connection, row)[0][0])


def arrivals_of(rows: Iterable[Sequence[Any]]) -> list[Arrival]:
    """Return the arrivals in the rows of a `SELECT_ARRIVALS`."""
    stored = []
    for row in rows:
        number, kind, recipient, sender, peer, hello, handed_on, raw = row[:8]
        verdict, checks, lane, player, at = row[8:]
        is_mail = kind == "mail"
        envelope = Envelope(sender, recipient, raw, peer, hello, handed_on) if is_mail else NO_MAIL
        body = b"" if is_mail else raw
        sender_check = Verdict(verdict, checks)
        stored.append(Arrival(kind, envelope, lane, at, sender_check, player, body, id=number))
    return stored


def after(connection: Connection, number: int, most: int) -> list[Arrival]:
    """Return up to *most* arrivals with greater numbers than *number*, in order."""
    return arrivals_of(_NEXT.run(connection, {"after": number, "most": most}))


def numbers(connection: Connection) -> list[int]:
    """Return the numbers of all arrivals, in order."""
    return list(connection.execute(select(arrivals.c.id).order_by(arrivals.c.id)).scalars())


def remove(connection: Connection, ids: Sequence[int]) -> None:
    """Remove settled arrivals."""
    for chunk in in_chunks(ids):
        connection.execute(delete(arrivals).where(arrivals.c.id.in_(chunk)))


def take_over(connection: Connection, other: Connection, done: Collection[int]) -> None:
    """Add arrivals of another mail store that this one does not have.

    Args:
        other: connection to the other store. If it is an older copy of this one, numbers stay; else
            the arrivals get new ones.
        done: numbers in the other store that are settled.
    """
    is_copy = mail_stores.uuid_of(connection) == mail_stores.uuid_of(other)
    skipped = {*done, *(numbers(connection) if is_copy else ())}
    names = [c for c in arrivals.c if is_copy or c is not arrivals.c.id]
    for number in numbers(other):
        if number not in skipped:
            row = other.execute(select(*names).where(arrivals.c.id == number)).mappings().one()
            connection.execute(
                insert(arrivals).values(**{**row, "claimed_until": None, "claimed_by": None})
            )


def by_lane(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return the number of arrivals and the octets of their texts for each lane."""
    statement = select(arrivals.c.lane, func.count(), func.sum(func.length(arrivals.c.raw)))
    return {
        lane: (mails, int(size))
        for share in shares_of(connection)
        for lane, mails, size in connection.execute(
            within(statement, arrivals, share).group_by(arrivals.c.lane)
        )
    }


_AFTER = Prepared(
    select(arrivals.c.received_at)
    .where(arrivals.c.id > bindparam("number"))
    .order_by(arrivals.c.id)
    .limit(1)
)


def oldest_after(connection: Connection, number: int) -> datetime | None:
    """Return when the first arrival after a number came, `None` if there is none."""
    rows = _AFTER.run(connection, {"number": number})
    return rows[0][0] if rows else None


def waiting(connection: Connection) -> tuple[int, datetime | None]:
    """Return the number of arrivals, and when the first one came."""
    columns: list[ColumnElement[Any]] = [func.count(), func.min(arrivals.c.received_at)]
    rows = [
        connection.execute(within(select(*columns).select_from(arrivals), arrivals, share)).one()
        for share in shares_of(connection)
    ]
    first_at = min((at for _, at in rows if at is not None), default=None)
    return sum(number for number, _ in rows), first_at
