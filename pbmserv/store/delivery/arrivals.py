"""Rows of what has arrived and waits to be carried out: the queue between the door and play.

The door adds them; play carries each out once, and says so in the same transaction. On SQLite the
two write to files of their own: play notes the arrival's number in `settled`, and the door removes
what is settled. On PostgreSQL play claims rows for a while and removes them itself.
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
from pbmserv.store.core.statements import Prepared
from pbmserv.store.tables.mail import arrivals, settled, stores

Kind: TypeAlias = Literal["mail", "over", "form", "press"]
OF_PAGES: frozenset[Kind] = frozenset({"form", "press"})
"""Kinds of arrivals that come from pages and have results."""
NO_MAIL = Envelope("", "", b"")


REMOVAL = "removal"
"""Of what is settled: work that waits while a copy is made (`files.alone_with`)."""

PROBE = -1
"""The number of a mail that is written and deleted again in one transaction."""
PROBE_OCTETS = 8_192
"""As large as a mail: it needs new pages, which a full disk does not give."""


@dataclass(frozen=True, slots=True)
class NewArrival:
    """What has come and is to be stored.

    Attributes:
        kind: ``mail``; ``over``: a mail over a limit, whose sender is to be told; ``form``: a form
            of a page; ``press``: a player's command from a page.
        envelope: the mail; `NO_MAIL` if it comes from a page.
        lane: those of one lane are carried out in their order, and share their part of the time.
        player_id: the player of the reply address or page.
        body: JSON from a page.
    """

    kind: Kind
    envelope: Envelope
    lane: str
    received_at: datetime
    verdict: Verdict = UNCHECKED
    player_id: int | None = None
    body: bytes = b""

    @classmethod
    def of_page(
        cls, kind: Kind, body: bytes, lane: str, received_at: datetime, player_id: int | None = None
    ) -> NewArrival:
        """Return an arrival from a page."""
        return NewArrival(kind, NO_MAIL, lane, received_at, player_id=player_id, body=body)


@dataclass(frozen=True, slots=True)
class Arrival(NewArrival):
    """What has come, stored under its number, which is never given again."""

    id: int = field(default=0, kw_only=True)


_NAMES = (
    *("kind", "recipient", "sender", "peer", "hello", "handed_on", "raw"),
    *("verdict", "found", "lane", "player_id", "received_at"),
)
_ADD = Prepared(insert(arrivals).returning(arrivals.c.id), _NAMES)
_ALL = select(arrivals.c.id, *(arrivals.c[name] for name in _NAMES))
_NEXT = Prepared(
    _ALL.where(arrivals.c.id > bindparam("after")).order_by(arrivals.c.id).limit(bindparam("most"))
)
_AT_ONCE = 500
_SETTLE = Prepared(insert(settled), ("store", "number", "result", "settled_at"))
_TAKE = delete(arrivals).where(arrivals.c.id == bindparam("number"))


def add(connection: Connection, new: NewArrival) -> int:
    """Store an arrival, and return its number."""
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
    }
    return int(_ADD.run(connection, row)[0][0])


def write(connection: Connection, now: datetime) -> None:
    """Write as much as a mail does, and take it back: who commits this has waited for the disk."""
    probe = {"kind": "mail", "recipient": "", "sender": "", "lane": "", "received_at": now}
    raw = secrets.token_bytes(PROBE_OCTETS)  # that cannot be packed
    connection.execute(insert(arrivals).values(id=PROBE, raw=raw, peer="", hello="", **probe))
    connection.execute(delete(arrivals).where(arrivals.c.id == PROBE))


def store_of(connection: Connection) -> str:
    """The name of this store, by which another file in its place is told from it."""
    return str(connection.execute(select(stores.c.uuid)).scalar_one())


def beat(connection: Connection, now: datetime) -> None:
    """A door says that it takes mail in."""
    connection.execute(update(stores).values(beat_at=now))


def beat_at(connection: Connection) -> datetime | None:
    """When a door said so last; ``None``: none has yet."""
    found: datetime | None = connection.execute(select(stores.c.beat_at)).scalar()
    return found


def _stored(statement: Prepared, connection: Connection, **values: Any) -> list[Arrival]:
    """The arrivals that a statement like `_ALL` finds."""
    stored = []
    for row in statement.run(connection, values):
        number, kind, recipient, sender, peer, hello, handed_on, raw = row[:8]
        verdict, found, lane, player, at = row[8:]
        is_of_page = kind in OF_PAGES
        envelope = (
            NO_MAIL if is_of_page else Envelope(sender, recipient, raw, peer, hello, handed_on)
        )
        body = raw if is_of_page else b""
        sender_check = Verdict(verdict, found)
        stored.append(Arrival(kind, envelope, lane, at, sender_check, player, body, id=number))
    return stored


after = partial(_stored, _NEXT)
"""Up to *most* that came *after* that number, in their order."""


def numbers(connection: Connection) -> list[int]:
    """Of all that are there, in their order."""
    return list(connection.execute(select(arrivals.c.id).order_by(arrivals.c.id)).scalars())


def remove(connection: Connection, numbers_: Sequence[int]) -> None:
    """Remove what is settled."""
    for at in range(0, len(numbers_), _AT_ONCE):
        some = numbers_[at : at + _AT_ONCE]
        connection.execute(delete(arrivals).where(arrivals.c.id.in_(some)))


def take_over(connection: Connection, other: Connection, done: Collection[int]) -> None:
    """Store what another mail store has and this one has not.

    Args:
        other: the other one. If it is an older copy of this one, numbers stay; else they are new.
        done: numbers in it that nobody needs any more.
    """
    is_copy = store_of(connection) == store_of(other)
    known = {*done, *(numbers(connection) if is_copy else ())}
    names = [c for c in arrivals.c if is_copy or c is not arrivals.c.id]
    for number in numbers(other):
        if number not in known:
            row = other.execute(select(*names).where(arrivals.c.id == number)).mappings().one()
            connection.execute(
                insert(arrivals).values(**{**row, "claimed_until": None, "claimed_by": None})
            )


def by_lane(connection: Connection) -> dict[str, tuple[int, int]]:
    """How many are there of each lane, and the octets of their texts."""
    found = select(arrivals.c.lane, func.count(), func.sum(func.length(arrivals.c.raw)))
    rows = connection.execute(found.group_by(arrivals.c.lane))
    return {lane: (mails, int(size)) for lane, mails, size in rows}


def oldest_after(connection: Connection, number: int) -> datetime | None:
    """When the first came after that one; ``None``: nothing did."""
    found: datetime | None = connection.execute(
        select(arrivals.c.received_at)
        .where(arrivals.c.id > number)
        .order_by(arrivals.c.id)
        .limit(1)
    ).scalar()
    return found


def has_free(connection: Connection, now: datetime) -> bool:
    """Whether any could be claimed."""
    free = arrivals.c.claimed_until.is_(None) | (arrivals.c.claimed_until <= now)
    return connection.execute(select(arrivals.c.id).where(free).limit(1)).first() is not None


def waiting(connection: Connection) -> tuple[int, datetime | None]:
    """How many there are, and since when the first waits."""
    row = connection.execute(
        select(func.count(), func.min(arrivals.c.received_at)).select_from(arrivals)
    ).one()
    return int(row[0]), row[1]


# -- play's notes, in its own store --------------------------------------------------------


class Gone(ServerFault):
    """An arrival has been carried out by somebody else."""


def settle(
    connection: Connection, arrival: Arrival, now: datetime, result: Any, *, store: str
) -> None:
    """Note, in the transaction that carries it out, that an arrival is done. *result*: of a form.

    Raises:
        Gone: it was done before.
    """
    note = {"store": store, "number": arrival.id, "result": result, "settled_at": now}
    try:
        _SETTLE.run(connection, note)
    except IntegrityError as error:
        raise Gone("carried out before") from error


def settled_since(connection: Connection, store: str, number: int) -> set[int]:
    """Numbers from that one on that are done."""
    found = select(settled.c.number).where(settled.c.store == store, settled.c.number >= number)
    return set(connection.execute(found).scalars())


def settled_before(connection: Connection, store: str, before: datetime) -> set[int]:
    """Numbers of what was done before that time."""
    found = select(settled.c.number).where(settled.c.store == store, settled.c.settled_at < before)
    return set(connection.execute(found).scalars())


def result_of(connection: Connection, store: str, number: int) -> tuple[bool, Any]:
    """Whether an arrival is done, and what came of it."""
    row = connection.execute(
        select(settled.c.result).where(settled.c.store == store, settled.c.number == number)
    ).first()
    return (False, None) if row is None else (True, row[0])


def forget_settled(connection: Connection, store: str, gone: Collection[int]) -> None:
    """Drop notes about arrivals that the door has removed."""
    numbers_ = list(gone)
    for at in range(0, len(numbers_), _AT_ONCE):
        some = settled.c.number.in_(numbers_[at : at + _AT_ONCE])
        connection.execute(delete(settled).where(settled.c.store == store, some))


# -- one database for all stages (PostgreSQL) ----------------------------------------------

_EARLIER = arrivals.alias()
_HELD = (
    select(_EARLIER.c.id)
    .where(
        _EARLIER.c.lane == arrivals.c.lane,
        _EARLIER.c.id < arrivals.c.id,
        _EARLIER.c.claimed_until > bindparam("now"),
    )
    .order_by(_EARLIER.c.lane, _EARLIER.c.id)
    .limit(1)
    .scalar_subquery()
)
"""An earlier one of its lane in another play's hands. Not an `exists`: as a join, PostgreSQL reads
and sorts all that waits before it gives us the first hundred."""
_CLAIMABLE = Prepared(
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
) -> list[Arrival]:
    """Lease up to *most* of the oldest arrivals, *of_lane* of each lane, to the process *by*.

    No other play gets them, or later ones of their lanes, before *until*. Rows that another play
    is claiming at this moment are locked, but not yet visible as claimed. So a lane is skipped
    from its first mail on that is neither ours nor gone: only the play that has the earlier mails
    of a lane may have later ones.

    Arrivals that are claimed in the name of *by* and not *in_hand* are given back first: a dead
    predecessor had them, or the answer to an earlier claim was lost.
    """
    release_claims(connection, by, in_hand)
    found = _stored(_CLAIMABLE, connection, now=now, most=most)
    if not found:
        return []
    lanes, ids = [one.lane for one in found], [one.id for one in found]
    firsts = connection.execute(_OF_OTHERS, {"lanes": lanes, "ids": ids, "last": ids[-1]})
    of_others: dict[str, int] = dict(firsts.all())
    taken: Counter[str] = Counter()
    ours = []
    for one in found:
        if taken[one.lane] < of_lane and one.id < of_others.get(one.lane, one.id + 1):
            taken[one.lane] += 1
            ours.append(one)
    connection.execute(_CLAIM, {"ids": [one.id for one in ours], "until": until, "by": by})
    return ours


def renew(connection: Connection, ids: Sequence[int], until: datetime) -> None:
    """Keep these for longer."""
    connection.execute(update(arrivals).where(arrivals.c.id.in_(ids)).values(claimed_until=until))


def release_claims(connection: Connection, by: str, in_hand: Collection[int] = ()) -> None:
    """Give the arrivals back that *by* has claimed, except those that it has *in_hand*."""
    connection.execute(
        update(arrivals)
        .where(arrivals.c.claimed_by == by, arrivals.c.id.not_in(in_hand))
        .values(claimed_until=None, claimed_by=None)
    )


def take(connection: Connection, number: int) -> bool:
    """Remove an arrival in the transaction that carries it out; false when somebody else did."""
    return connection.execute(_TAKE, {"number": number}).rowcount == 1


def prune_results(connection: Connection, before: datetime) -> None:
    """Drop what pages have been told long ago."""
    connection.execute(delete(settled).where(settled.c.settled_at < before))
