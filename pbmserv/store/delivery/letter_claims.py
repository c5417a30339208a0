"""Claims of senders on letters: due letters are leased, and the ends of attempts are noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
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

HEAVY = 25
"""Effort above which a letter, or all letters to one reader, let others go first."""
MOST_EFFORT = 100
"""Effort in one claim after which such letters wait for the next claim."""


@dataclass(frozen=True, slots=True)
class ClaimedLetter(QueuedLetter):
    """A letter that a sender has claimed.

    Attributes:
        effort: work to make it, in plain letters: the number of its parts, or `MOST_EFFORT` if it
            has files.
    """

    effort: int = 1

    @property
    def is_heavy(self) -> bool:
        """Whether other letters should be made first."""
        return self.effort > HEAVY


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
_LOST = (
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
_POSTPONE = Prepared(_UPDATE.values(due_at=bindparam("now")))
_PUT_OFF = Prepared(
    _IN_HAND.values(due_at=bindparam("at"), claimed_by=None, error=bindparam("why"))
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
    *,
    most: int,
    by: str,
    now: datetime,
    until: datetime,
    share: int | None = None,
) -> list[ClaimedLetter]:
    """Lease letters that are due now to a sender, and return them in the order to make them.

    Letters to an address that is given up are parked. Letters to readers who ask for much are moved
    behind all letters that are due now, if they are too many for one claim.

    Args:
        connection: to the game store.
        most: largest number of letters.
        by: name of the claiming process.
        until: end of the lease.
        share: claim letters of this share only; `None` for all.
    """
    due: list[ClaimedLetter] = []
    parked: list[int] = []
    for *columns, given_up in _due(connection, most, now, share):
        row = ClaimedLetter(*columns)
        if row.letter in _PARTS:
            row = replace(row, effort=max(1, _PARTS[row.letter](row.words)))
        if given_up and not kind_of(row.letter).always_tried:
            parked.append(row.id)
        else:
            due.append(row)
    claimed, postponed = _split_by_effort(due)
    if parked:
        _PARK.run(connection, *[key_of(connection, i) for i in parked])
    if postponed:
        moved = [{**key_of(connection, row.id), "now": now} for row in postponed]
        _POSTPONE.run(connection, *moved)
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
    """Order letters for making them, and split off those that a claim has no room for.

    Letters are made by the mails that caused them, and last those to readers who ask for much: one
    of these at least, and no more when they reach `MOST_EFFORT`. Of a mail the letters to opponents
    come before those to its sender. They are neighbours, so that the board that they show is read
    and replayed once. The letters to one reader keep their order.
    """
    answered = {(row.created_at, row.recipient) for row in due if row.in_reply_to}
    efforts = Counter[str]()
    for row in due:
        efforts[row.recipient] += row.effort

    def rank(row: ClaimedLetter) -> tuple[int, datetime, bool]:
        effort = efforts[row.recipient]
        is_answered = (row.created_at, row.recipient) in answered
        return effort if effort > HEAVY else 0, row.created_at, is_answered

    ordered, beyond = list[ClaimedLetter](), list[ClaimedLetter]()
    spent = 0
    for row in sorted(due, key=rank):
        if efforts[row.recipient] <= HEAVY:
            ordered.append(row)
        elif spent < MOST_EFFORT:
            spent += row.effort
            ordered.append(row)
        else:
            beyond.append(row)
    return ordered, beyond


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


def put_off(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Settle letters that were not tried: (id, time of the attempt, reason)."""
    _PUT_OFF.run(
        connection, *[{**key_of(connection, i), "at": at, "why": why} for i, at, why in waits]
    )


def mark_failed(connection: Connection, losses: Sequence[tuple[int, str]]) -> None:
    """Settle letters that failed for good: (id, error)."""
    _FAILED.run(connection, *[{**key_of(connection, i), "why": why} for i, why in losses])


def release_lost(
    connection: Connection,
    *,
    by: str,
    in_hand: Collection[int],
    now: datetime,
    share: int | None,
) -> None:
    """Make letters due now that are leased to a sender who does not have them.

    A dead predecessor of the same name had them, or the answer to a claim was lost.

    Args:
        in_hand: letters that the sender has.
    """
    lost = within(_LOST, outbox, share).where(outbox.c.id.not_in(in_hand))
    connection.execute(lost, {"by": by, "now": now})


def reason_to_wait(away: GameAway) -> str:
    """Return the error of a letter whose game cannot be played."""
    return f"waits: {away}"


def wake_waiting(connection: Connection, game: str, now: datetime) -> int:
    """Make the letters due that wait for a game, and return their number."""
    waits = update(outbox).where(
        outbox.c.state == LetterState.QUEUED,
        outbox.c.error == reason_to_wait(GameAway(game, is_stopped=True)),
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
