"""Claims of plays on arrivals, where all stages share one database (PostgreSQL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

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
    select,
    update,
)

from pbmserv.store.delivery.arrivals import SELECT_ARRIVALS, Arrival, arrivals_of
from pbmserv.store.delivery.shares import by_share, share_of, shares_of, within
from pbmserv.store.tables.mail import arrivals

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
    SELECT_ARRIVALS.where(
        arrivals.c.claimed_until.is_(None) | (arrivals.c.claimed_until <= bindparam("now")),
        _HELD.is_(None),
    )
    .order_by(arrivals.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=arrivals)
)
_IDS = bindparam("ids", type_=ARRAY(BigInteger))
_FIRST_OF_OTHERS = (
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
_TAKE = delete(arrivals).where(
    arrivals.c.id == bindparam("number"), arrivals.c.share == bindparam("number_share")
)


def has_free(connection: Connection, now: datetime) -> bool:
    """Return whether an arrival can be claimed."""
    free = arrivals.c.claimed_until.is_(None) | (arrivals.c.claimed_until <= now)
    statement = select(arrivals.c.id).where(free).limit(1)
    return any(
        connection.execute(within(statement, arrivals, share)).first() is not None
        for share in shares_of(connection)
    )


@dataclass(frozen=True, slots=True)
class Lease:
    """A time for which only one play may carry some arrivals out.

    Attributes:
        by: name of the process that claims them.
    """

    by: str
    now: datetime
    until: datetime


def claim(
    connection: Connection,
    lease: Lease,
    *,
    most: int,
    most_of_lane: int,
    share: int | None = None,
) -> list[Arrival]:
    """Lease the oldest arrivals that no other play has.

    No other play gets them, or later ones of their lanes, before the lease ends. Rows that another
    play is claiming at this moment are locked, but not yet visible as claimed. So a lane is cut off
    at its first mail that another play may have: only the play with the earlier mails of a lane may
    have later ones.

    Args:
        share: claim arrivals of this share only; `None` for all.
    """
    rows = connection.execute(within(_CLAIMABLE, arrivals, share), {"now": lease.now, "most": most})
    claimable = arrivals_of(rows)
    if not claimable:
        return []
    first_of_others = _first_of_others(connection, claimable, share)
    counts: Counter[str] = Counter()
    claimed = []
    for arrival in claimable:
        lane = arrival.lane
        is_behind_others = lane in first_of_others and first_of_others[lane] < arrival.id
        if counts[lane] < most_of_lane and not is_behind_others:
            counts[lane] += 1
            claimed.append(arrival)
    connection.execute(
        within(_CLAIM, arrivals, share),
        {"ids": [arrival.id for arrival in claimed], "until": lease.until, "by": lease.by},
    )
    return claimed


def _first_of_others(
    connection: Connection, claimable: Sequence[Arrival], share: int | None
) -> dict[str, int]:
    """Return the first arrival in each lane of *claimable* that is not among these, by lane."""
    ids = [arrival.id for arrival in claimable]
    values = {"lanes": [arrival.lane for arrival in claimable], "ids": ids, "last": ids[-1]}
    return dict(connection.execute(within(_FIRST_OF_OTHERS, arrivals, share), values).all())


def renew(connection: Connection, ids: Sequence[int], until: datetime) -> None:
    """Extend the leases of arrivals."""
    for share, numbers in by_share(connection, ids).items():
        lease = within(update(arrivals), arrivals, share).where(arrivals.c.id.in_(numbers))
        connection.execute(lease.values(claimed_until=until))


def release_lost(
    connection: Connection, *, by: str, in_hand: Collection[int], share: int | None = None
) -> None:
    """Give back arrivals that are leased to a play that does not have them.

    A dead predecessor of the same name had them, or the answer to a claim was lost.

    Args:
        in_hand: arrivals that the play has.
    """
    lost = update(arrivals).where(arrivals.c.claimed_by == by, arrivals.c.id.not_in(in_hand))
    connection.execute(within(lost, arrivals, share).values(claimed_until=None, claimed_by=None))


def take(connection: Connection, number: int) -> bool:
    """Remove an arrival in the transaction that carries it out.

    Returns:
        False if another process has carried it out.
    """
    key = {"number": number, "number_share": share_of(connection, number)}
    return connection.execute(_TAKE, key).rowcount == 1
