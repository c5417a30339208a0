"""Claims of senders on letters: due letters are leased, and the ends of attempts are noted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from pbmserv.errors import GameAway
from pbmserv.mail.letter_kinds import kind_of, letters_that
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.delivery.outbox import COLUMNS, IS_ROW, QueuedLetter, key_of
from pbmserv.store.delivery.shares import UNDIVIDED, shares_of, within
from pbmserv.store.tables.mail import LetterState, bounces, outbox

MOST_EFFORT = 100
"""Largest effort of the letters to one reader in one claim; a single letter may exceed it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sender's request for due letters.

    Attributes:
        most: largest number of letters.
        in_hand: letters that the sender has in hand. Others claimed in its name become due again:
            a dead predecessor had them, or the answer to an earlier claim was lost.
    """

    most: int
    in_hand: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimedLetter(QueuedLetter):
    """A letter that a sender has claimed.

    Attributes:
        effort: work to make it, in plain letters: the number of its parts, or `MOST_EFFORT` if it
            has files.
    """

    effort: int = 1


_PARTS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "summary": lambda words: sum(len(line["parts"]) for line in words["lines"]),
    **dict.fromkeys(
        letters_that(lambda kind: kind.has_entries),
        lambda words: len(words["waiting"]) + len(words["news"]),
    ),
    **dict.fromkeys(letters_that(lambda kind: kind.has_files), lambda _: MOST_EFFORT),
}
"""Effort of letters that have several parts or files."""


(FAREWELL,) = letters_that(lambda kind: kind.leaves_nothing)
"""Kind of the last letter to a deleted player; once it is sent, its address is removed."""


_WITHOUT_ADDRESS = {"recipient": case((outbox.c.letter == FAREWELL, ""), else_=outbox.c.recipient)}
_GIVEN_UP = exists().where(
    bounces.c.address == outbox.c.recipient, bounces.c.suspended_at.is_not(None)
)
_SELECT_DUE = (
    select(
        *COLUMNS,
        and_(outbox.c.player_id.is_not(None), _GIVEN_UP).label("given_up"),
    )
    .where(outbox.c.state == LetterState.QUEUED, outbox.c.due_at <= bindparam("now"))
    .order_by(outbox.c.due_at, outbox.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=outbox)
)
_DUE = Prepared(_SELECT_DUE)
_CAME_BACK = or_(
    outbox.c.state == LetterState.SENT,
    outbox.c.state == LetterState.RETURNED,
    and_(outbox.c.state == LetterState.FAILED, outbox.c.sent_at.is_not(None)),
)
_UPDATE = update(outbox).where(IS_ROW)
_IN_HAND = _UPDATE.where(not_(_CAME_BACK))
"""A bounce can be recorded before the sender settles the letter; then the bounce wins."""
_LEASE = Prepared(_UPDATE.values(due_at=bindparam("until"), claimed_by=bindparam("by")))
_RENEW = Prepared(
    _UPDATE.where(outbox.c.state == LetterState.QUEUED, outbox.c.claimed_by.is_not(None)).values(
        due_at=bindparam("until")
    )
)
_UPDATE_LOST = (
    update(outbox)
    .where(
        outbox.c.state == LetterState.QUEUED,
        outbox.c.claimed_by == bindparam("by"),
        outbox.c.due_at > bindparam("now"),  # else it is due already, and keeps its turn
    )
    .values(due_at=bindparam("now"))
)
"""The sender's name stays in `claimed_by`, since the letter may have been sent (see
`unsent_letters.Unsent.begun`)."""
_RELEASE_LOST = Prepared(_UPDATE_LOST)
_POSTPONE = Prepared(_UPDATE.values(due_at=bindparam("now")))
_WHY = func.nullif(bindparam("why", type_=Text), "")
_RELEASE = Prepared(
    _IN_HAND.values(
        due_at=bindparam("until"), claimed_by=None, error=func.coalesce(_WHY, outbox.c.error)
    )
)
_SENT = Prepared(
    _IN_HAND.values(
        state=LetterState.SENT,
        due_at=None,
        claimed_by=None,
        sent_at=bindparam("at"),
        error="",
        **_WITHOUT_ADDRESS,
    )
)
_LATER = Prepared(
    _IN_HAND.values(
        due_at=bindparam("at"),
        claimed_by=None,
        error=bindparam("why"),
        attempts=outbox.c.attempts + 1,
    )
)
_FAILED = Prepared(
    _IN_HAND.values(
        state=LetterState.FAILED,
        due_at=None,
        claimed_by=None,
        error=bindparam("why"),
        attempts=outbox.c.attempts + 1,
        **_WITHOUT_ADDRESS,
    )
)
_PARK = Prepared(_UPDATE.values(state=LetterState.PARKED, due_at=None, claimed_by=None))
_SELECT_NEXT = select(func.min(outbox.c.due_at)).where(outbox.c.state == LetterState.QUEUED)
_NEXT = Prepared(_SELECT_NEXT)


def claim(
    connection: Connection,
    claim: Claim,
    *,
    by: str,
    now: datetime,
    until: datetime,
    share: int | None = None,
) -> list[ClaimedLetter]:
    """Lease the letters that are due now to a sender.

    Letters to an address that is given up are parked. Letters to one reader beyond `MOST_EFFORT`
    are moved behind all letters that are due now.

    Args:
        connection: to the game store.
        by: name of the claiming process.
        until: end of the lease.
        share: claim letters of this share only; `None` for all.
    """
    _release_lost(connection, by, claim.in_hand, now, share)
    claimed: list[ClaimedLetter] = []
    parked: list[int] = []
    for *columns, given_up in _due(connection, claim.most, now, share):
        row = ClaimedLetter(*columns)
        if row.letter in _PARTS:
            row = replace(row, effort=max(1, _PARTS[row.letter](row.words)))
        if given_up and not kind_of(row.letter).always_tried:
            parked.append(row.id)
        else:
            claimed.append(row)
    if parked:
        _PARK.run(connection, *[key_of(connection, i) for i in parked])
    if sum(row.effort for row in claimed) > MOST_EFFORT:
        claimed, postponed = _split_by_effort(claimed)
        if postponed:
            _POSTPONE.run(
                connection, *[{**key_of(connection, row.id), "now": now} for row in postponed]
            )
    if claimed:
        leases = [{**key_of(connection, row.id), "until": until, "by": by} for row in claimed]
        _LEASE.run(connection, *leases)
    return claimed


def _due(
    connection: Connection, most: int, now: datetime, share: int | None
) -> Iterable[Sequence[Any]]:
    """Return the rows of due letters, each with whether its address is given up."""
    values = {"now": now, "most": most}
    if share is None:  # as in most claims; compiled once
        return _DUE.run(connection, values)
    return connection.execute(within(_SELECT_DUE, outbox, share), values)


def _split_by_effort(
    due: Sequence[ClaimedLetter],
) -> tuple[list[ClaimedLetter], list[ClaimedLetter]]:
    """Split letters into those within each reader's `MOST_EFFORT` and those beyond."""
    within_effort: list[ClaimedLetter] = []
    beyond: list[ClaimedLetter] = []
    efforts: dict[str, int] = {}
    for row in due:
        before = efforts.get(row.recipient, 0)
        efforts[row.recipient] = before + row.effort
        if before and efforts[row.recipient] > MOST_EFFORT:
            beyond.append(row)
        else:
            within_effort.append(row)
    return within_effort, beyond


def renew(connection: Connection, ids: Sequence[int], until: datetime) -> None:
    """Extend the leases of letters that are still claimed."""
    _RENEW.run(connection, *[{**key_of(connection, i), "until": until} for i in ids])


def mark_sent(connection: Connection, ids: Sequence[int], now: datetime) -> None:
    """Settle letters that the next hop accepted; those that came back already stay as they are."""
    _SENT.run(connection, *[{**key_of(connection, i), "at": now} for i in ids])


def retry_later(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Settle letters for another attempt: (id, time of the attempt, error)."""
    _LATER.run(
        connection, *[{**key_of(connection, i), "at": at, "why": why} for i, at, why in waits]
    )


def release(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Give claimed letters back without an attempt.

    Args:
        waits: id, time at which the letter is due, and error; ``""`` keeps the previous error.
    """
    _RELEASE.run(
        connection, *[{**key_of(connection, i), "until": at, "why": why} for i, at, why in waits]
    )


def mark_failed(connection: Connection, losses: Sequence[tuple[int, str]]) -> None:
    """Settle letters that failed for good: (id, error)."""
    _FAILED.run(connection, *[{**key_of(connection, i), "why": why} for i, why in losses])


def _release_lost(
    connection: Connection, by: str, in_hand: Collection[int], now: datetime, share: int | None
) -> None:
    """Make letters due that are claimed by *by* and not *in_hand*."""
    values = {"by": by, "now": now}
    if not in_hand and share is None:  # as in most claims; compiled once
        _RELEASE_LOST.run(connection, values)
    else:
        lost = within(_UPDATE_LOST, outbox, share).where(outbox.c.id.not_in(in_hand))
        connection.execute(lost, values)


def wake_waiting(connection: Connection, game: str, now: datetime) -> int:
    """Make the letters due that wait for a game, and return their number."""
    waits = update(outbox).where(
        outbox.c.state == LetterState.QUEUED,
        outbox.c.error == f"waits: {GameAway(game, is_stopped=True)}",
    )
    return connection.execute(waits.values(due_at=now)).rowcount


def next_due(connection: Connection) -> datetime | None:
    """Return when the next queued letter is due, or its lease ends; `None` if there is none."""
    shares = shares_of(connection)
    if shares == UNDIVIDED:
        next_at: datetime | None = _NEXT.run(connection)[0][0]
        return next_at
    moments = [connection.execute(within(_SELECT_NEXT, outbox, share)).scalar() for share in shares]
    return min((moment for moment in moments if moment is not None), default=None)
