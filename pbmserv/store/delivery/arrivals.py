"""Rows of arrivals, the queue between the door and play.

The door adds them. Play carries out each once, and records that in the same transaction. On SQLite,
door and play write to different files: play adds the arrival's number to `settled`, and the door
removes settled arrivals. On PostgreSQL, play leases rows and removes them itself.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Text,
    all_,
    any_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from pbmserv.errors import ServerFault
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.delivery.shares import (
    by_share,
    next_number,
    share_for,
    share_of,
    shares_of,
    within,
)
from pbmserv.store.tables.mail import arrivals, settled, stores

Kind: TypeAlias = Literal["mail", "over", "form", "press"]
OF_PAGES: frozenset[Kind] = frozenset({"form", "press"})
"""Kinds of arrivals that come from pages and have results."""
NO_MAIL = Envelope("", "", b"")


REMOVAL = "removal"
"""Name of the lock for the removal of settled arrivals, see `file_locks.exclusive_work`."""

PROBE = -1
"""Number of a probe, a mail that is written and deleted in one transaction."""
PROBE_OCTETS = 8_192
"""Size of a probe: it needs new pages, which a full disk does not have."""


@dataclass(frozen=True, slots=True)
class NewArrival:
    """A mail, or a request of a page or the door, that is to be stored.

    Attributes:
        kind: ``mail``; ``over``: a mail was not taken, and its writer is to be told; ``form``: a
            form of a page; ``press``: a player's command from a page.
        envelope: the mail; `NO_MAIL` for the other kinds.
        lane: those of one lane are carried out in their order, and share their part of the time.
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
_ALL = select(arrivals.c.id, *(arrivals.c[name] for name in _NAMES))
_NEXT = Prepared(
    _ALL.where(arrivals.c.id > bindparam("after")).order_by(arrivals.c.id).limit(bindparam("most"))
)
_CHUNK = 500
"""Numbers in one statement."""
_SETTLE = Prepared(insert(settled), ("store", "number", "result", "settled_at"))
_TAKE = delete(arrivals).where(
    arrivals.c.id == bindparam("number"), arrivals.c.share == bindparam("number_share")
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
        "found": new.verdict.found,
        "lane": new.lane,
        "player_id": new.player_id,
        "received_at": new.received_at,
        "share": share,
        "new_share": share,
    }
    return int(_ADD[connection.dialect.name].run(connection, row)[0][0])


def write_probe(connection: Connection, now: datetime) -> None:
    """Write and delete a probe of the size of a mail; after the commit the disk has taken it."""
    probe = {"kind": "mail", "recipient": "", "sender": "", "lane": "", "received_at": now}
    raw = secrets.token_bytes(PROBE_OCTETS)  # random, so that it does not compress
    connection.execute(insert(arrivals).values(id=PROBE, raw=raw, peer="", hello="", **probe))
    connection.execute(delete(arrivals).where(arrivals.c.id == PROBE))


def store_of(connection: Connection) -> str:
    """Return the UUID of this store, which tells it from another file in its place."""
    return str(connection.execute(select(stores.c.uuid)).scalar_one())


def beat(connection: Connection, now: datetime) -> None:
    """Note that a door accepts mail now."""
    connection.execute(update(stores).values(beat_at=now))


def beat_at(connection: Connection) -> datetime | None:
    """Return when a door last accepted mail, `None` if never."""
    moment: datetime | None = connection.execute(select(stores.c.beat_at)).scalar()
    return moment


def _stored(statement: Prepared, connection: Connection, **values: Any) -> list[Arrival]:
    """Return the arrivals that a statement like `_ALL` selects."""
    stored = []
    for row in statement.run(connection, values):
        number, kind, recipient, sender, peer, hello, handed_on, raw = row[:8]
        verdict, found, lane, player, at = row[8:]
        is_mail = kind == "mail"
        envelope = Envelope(sender, recipient, raw, peer, hello, handed_on) if is_mail else NO_MAIL
        body = b"" if is_mail else raw
        sender_check = Verdict(verdict, found)
        stored.append(Arrival(kind, envelope, lane, at, sender_check, player, body, id=number))
    return stored


after = partial(_stored, _NEXT)
"""Return up to *most* arrivals with numbers greater than *after*, in order."""


def numbers(connection: Connection) -> list[int]:
    """Return the numbers of all arrivals, in order."""
    return list(connection.execute(select(arrivals.c.id).order_by(arrivals.c.id)).scalars())


def remove(connection: Connection, ids: Sequence[int]) -> None:
    """Remove settled arrivals."""
    for at in range(0, len(ids), _CHUNK):
        connection.execute(delete(arrivals).where(arrivals.c.id.in_(ids[at : at + _CHUNK])))


def take_over(connection: Connection, other: Connection, done: Collection[int]) -> None:
    """Add arrivals of another mail store that this one does not have.

    Args:
        other: connection to the other store. If it is an older copy of this one, numbers stay; else
            the arrivals get new ones.
        done: numbers in the other store that are settled.
    """
    is_copy = store_of(connection) == store_of(other)
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


def has_free(connection: Connection, now: datetime) -> bool:
    """Return whether an arrival can be claimed."""
    free = arrivals.c.claimed_until.is_(None) | (arrivals.c.claimed_until <= now)
    statement = select(arrivals.c.id).where(free).limit(1)
    return any(
        connection.execute(within(statement, arrivals, share)).first() is not None
        for share in shares_of(connection)
    )


def waiting(connection: Connection) -> tuple[int, datetime | None]:
    """Return the number of arrivals, and when the first one came."""
    counts = select(func.count(), func.min(arrivals.c.received_at)).select_from(arrivals)
    rows = [
        connection.execute(
            counts if share is None else counts.where(arrivals.c.share == share)
        ).one()
        for share in shares_of(connection)
    ]
    first_at = min((at for _, at in rows if at is not None), default=None)
    return sum(number for number, _ in rows), first_at


# -- play's notes, in its own store --------------------------------------------------------


class Gone(ServerFault):
    """An arrival was carried out by another process."""


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


def settled_since(connection: Connection, store: str, number: int) -> set[int]:
    """Return the numbers of settled arrivals, from *number* on."""
    statement = select(settled.c.number).where(settled.c.store == store, settled.c.number >= number)
    return set(connection.execute(statement).scalars())


def settled_before(connection: Connection, store: str, before: datetime) -> set[int]:
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


def forget_settled(connection: Connection, store: str, gone: Collection[int]) -> None:
    """Delete the records of arrivals that the door has removed."""
    ids = list(gone)
    for at in range(0, len(ids), _CHUNK):
        chunk = settled.c.number.in_(ids[at : at + _CHUNK])
        connection.execute(delete(settled).where(settled.c.store == store, chunk))


# -- one database for all stages (PostgreSQL) ----------------------------------------------

_EARLIER = arrivals.alias()
_HELD = (
    select(_EARLIER.c.id)
    .where(
        _EARLIER.c.share == arrivals.c.share,
        _EARLIER.c.lane == arrivals.c.lane,
        _EARLIER.c.id < arrivals.c.id,
        _EARLIER.c.claimed_until > bindparam("now"),
    )
    .order_by(_EARLIER.c.lane, _EARLIER.c.id)
    .limit(1)
    .scalar_subquery()
)
"""An earlier arrival of the same lane that another play has leased. With `exists`, PostgreSQL would
join and sort the whole queue before it returned the first hundred."""
_CLAIMABLE = (
    _ALL.where(
        arrivals.c.claimed_until.is_(None) | (arrivals.c.claimed_until <= bindparam("now")),
        _HELD.is_(None),
    )
    .order_by(arrivals.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=arrivals)
)
_IDS = bindparam("ids", type_=ARRAY(BigInteger))
_OF_OTHERS = (
    select(arrivals.c.lane, func.min(arrivals.c.id))
    .where(
        arrivals.c.lane == any_(bindparam("lanes", type_=ARRAY(Text))),
        arrivals.c.id < bindparam("last"),
        arrivals.c.id != all_(_IDS),
    )
    .group_by(arrivals.c.lane)
)
_CLAIM = (
    update(arrivals)
    .where(arrivals.c.id == any_(_IDS))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("by"))
)


def claim(
    connection: Connection,
    by: str,
    now: datetime,
    until: datetime,
    most: int,
    of_lane: int,
    in_hand: Collection[int] = (),
    share: int | None = None,
) -> list[Arrival]:
    """Lease up to *most* of the oldest arrivals, *of_lane* of each lane, to the process *by*.

    No other play gets them, or later ones of their lanes, before *until*. Rows that another play is
    claiming at this moment are locked, but not yet visible as claimed. So a lane is cut off at its
    first mail that another play may have: only the play with the earlier mails of a lane may have
    later ones.

    Arrivals that are claimed by *by* and not *in_hand* are given back first: a dead predecessor had
    them, or the answer to an earlier claim was lost.

    Args:
        share: claim arrivals of this share only; `None` for all.
    """
    release_claims(connection, by, in_hand, share)
    claimable = _stored(
        Prepared(within(_CLAIMABLE, arrivals, share)), connection, now=now, most=most
    )
    if not claimable:
        return []
    lanes, ids = [arrival.lane for arrival in claimable], [arrival.id for arrival in claimable]
    firsts = connection.execute(
        within(_OF_OTHERS, arrivals, share), {"lanes": lanes, "ids": ids, "last": ids[-1]}
    )
    of_others: dict[str, int] = dict(firsts.all())
    counts: Counter[str] = Counter()
    ours = []
    for arrival in claimable:
        if counts[arrival.lane] < of_lane and arrival.id < of_others.get(
            arrival.lane, arrival.id + 1
        ):
            counts[arrival.lane] += 1
            ours.append(arrival)
    connection.execute(
        within(_CLAIM, arrivals, share),
        {"ids": [arrival.id for arrival in ours], "until": until, "by": by},
    )
    return ours


def renew(connection: Connection, ids: Sequence[int], until: datetime) -> None:
    """Extend the leases of arrivals."""
    for share, numbers in by_share(connection, ids).items():
        lease = within(update(arrivals), arrivals, share).where(arrivals.c.id.in_(numbers))
        connection.execute(lease.values(claimed_until=until))


def release_claims(
    connection: Connection, by: str, in_hand: Collection[int] = (), share: int | None = None
) -> None:
    """Give back the arrivals that are claimed by *by* and not *in_hand*."""
    lost = update(arrivals).where(arrivals.c.claimed_by == by, arrivals.c.id.not_in(in_hand))
    connection.execute(within(lost, arrivals, share).values(claimed_until=None, claimed_by=None))


def take(connection: Connection, number: int) -> bool:
    """Remove an arrival in the transaction that carries it out.

    Returns:
        False if another process has carried it out.
    """
    key = {"number": number, "number_share": share_of(connection, number)}
    return connection.execute(_TAKE, key).rowcount == 1


def prune_results(connection: Connection, before: datetime) -> None:
    """Delete the results of forms from before a moment."""
    connection.execute(delete(settled).where(settled.c.settled_at < before))
