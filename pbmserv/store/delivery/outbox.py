"""Rows of letters: queued in the transaction of the change, claimed and settled by senders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.errors import GameAway
from pbmserv.mail.letter_kinds import kind_of, letters_that
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import columns_of
from pbmserv.store.delivery.shares import (
    UNDIVIDED,
    next_number,
    of_new_row,
    share_for,
    share_of,
    shares_of,
    within,
)
from pbmserv.store.tables.columns import Instant
from pbmserv.store.tables.mail import LetterState, bounces, letter_bytes, outbox


@dataclass(frozen=True, slots=True)
class NewLetter:
    """A letter to queue.

    Attributes:
        letter: kind of letter, the name of its template.
        recipient: address.
        words: facts that the record does not hold, ready for JSON.
        message_id, in_reply_to: with angle brackets; ``in_reply_to`` may be ``""``.
        player_id: player whose reply address it carries; `None` for a stranger.
        board_id, ply: position that it shows.
        seat: seat whose view it shows; `None` for a spectator.
        tray: whether it waits for its player's daily digest.
    """

    letter: str
    recipient: str
    words: Mapping[str, Any]
    message_id: str
    in_reply_to: str = ""
    player_id: int | None = None
    board_id: int | None = None
    ply: int | None = None
    seat: int | None = None
    tray: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class QueuedLetter(NewLetter):
    """A letter in the queue.

    Attributes:
        mail_id: mail that caused it; `None` if a clock, a bot, a page or an operator did.
        raw: octets from an earlier attempt; filled by `claim` only.
        effort: work to make it, in plain letters: the number of its parts, or `SHARE` if it has
            files; filled by `claim` only.
    """

    id: int = 0
    attempts: int = 0
    created_at: datetime = datetime.min  # noqa: DTZ901 - never used; fields after defaults need one
    mail_id: int | None = None
    raw: bytes | None = field(default=None, repr=False)
    effort: int = 1


SHARE = 100
"""Largest effort of the letters to one reader in one claim; a single letter may exceed it."""


_PARTS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "summary": lambda words: sum([len(line["parts"]) for line in words["lines"]]),
    **dict.fromkeys(
        letters_that(lambda kind: kind.has_entries),
        lambda words: len(words["waiting"]) + len(words["news"]),
    ),
    **dict.fromkeys(letters_that(lambda kind: kind.has_files), lambda _: SHARE),
}
"""Effort of letters that have several parts or files."""


(FAREWELL,) = letters_that(lambda kind: kind.leaves_nothing)
"""Kind of the last letter to a deleted player; once it is sent, its address is removed."""


_WITHOUT_ADDRESS = {"recipient": case((outbox.c.letter == FAREWELL, ""), else_=outbox.c.recipient)}
_COLUMNS = columns_of(QueuedLetter, outbox)
_ADD = {
    name: Prepared(
        statement,
        (
            *("letter", "recipient", "player_id", "board_id", "ply", "seat", "words", "message_id"),
            *("in_reply_to", "state", "attempts", "due_at", "error", "created_at", "mail_id"),
            "share",
        ),
    )
    for name, statement in (
        ("sqlite", insert(outbox)),
        ("postgresql", insert(outbox).values(id=next_number(outbox))),
    )
}
_GIVEN_UP = exists().where(
    bounces.c.address == outbox.c.recipient, bounces.c.suspended_at.is_not(None)
)
_ALL_DUE = (
    select(
        *_COLUMNS,
        letter_bytes.c.raw,
        and_(outbox.c.player_id.is_not(None), _GIVEN_UP).label("given_up"),
    )
    .select_from(
        outbox.outerjoin(
            letter_bytes,
            and_(letter_bytes.c.letter_id == outbox.c.id, letter_bytes.c.share == outbox.c.share),
        )
    )
    .where(outbox.c.state == LetterState.QUEUED, outbox.c.due_at <= bindparam("now"))
    .order_by(outbox.c.due_at, outbox.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=outbox)
)
_DUE = Prepared(_ALL_DUE)
_IS_ROW = and_(outbox.c.id == bindparam("letter_id"), outbox.c.share == bindparam("letter_share"))
_ONE = update(outbox).where(_IS_ROW)
_CAME_BACK = or_(
    outbox.c.state == LetterState.SENT,
    outbox.c.state == LetterState.RETURNED,
    and_(outbox.c.state == LetterState.FAILED, outbox.c.sent_at.is_not(None)),
)
_IN_HAND = _ONE.where(not_(_CAME_BACK))
"""A bounce can be recorded before the sender settles the letter; then the bounce wins."""
_LEASE = Prepared(_ONE.values(due_at=bindparam("until"), claimed_by=bindparam("by")))
_RENEW = Prepared(
    _ONE.where(outbox.c.state == LetterState.QUEUED, outbox.c.claimed_by.is_not(None)).values(
        due_at=bindparam("until")
    )
)
_LOST = (
    update(outbox)
    .where(outbox.c.state == LetterState.QUEUED, outbox.c.claimed_by == bindparam("by"))
    .values(due_at=bindparam("now"), claimed_by=None)
)
_RELEASE_LOST = Prepared(_LOST)
_POSTPONE = Prepared(_ONE.values(due_at=bindparam("now")))
_RELEASE = Prepared(_IN_HAND.values(due_at=bindparam("until"), claimed_by=None))
_RELEASE_WITH_ERROR = Prepared(
    _IN_HAND.values(due_at=bindparam("until"), error=bindparam("why"), claimed_by=None)
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
_PARK = Prepared(_ONE.values(state=LetterState.PARKED, due_at=None, claimed_by=None))
_ALL_NEXT = select(func.min(outbox.c.due_at)).where(outbox.c.state == LetterState.QUEUED)
_NEXT = Prepared(_ALL_NEXT)


def add(
    connection: Connection, letters: Sequence[NewLetter], now: datetime, mail_id: int | None = None
) -> None:
    """Queue letters that are due now. Letters without an address, to players who left, are skipped.

    Args:
        mail_id: mail that caused them, see `QueuedLetter`.
    """
    letters = [letter for letter in letters if letter.recipient]
    if not letters:
        return
    rows = []
    for letter in letters:
        share = share_for(connection, letter.recipient)
        rows.append(
            {
                **row_of(letter, now, mail_id),
                "state": LetterState.DIGEST if letter.tray else LetterState.QUEUED,
                "due_at": None if letter.tray else now,
                "share": share,
                "new_share": share,
            }
        )
    _ADD[connection.dialect.name].run(connection, *rows)


def add_waiting(
    connection: Connection,
    letter: NewLetter,
    board_ids: Sequence[int],
    now: datetime,
    mail_id: int | None,
) -> int:
    """Add a letter that waits for bots or reports on these boards, and return its number."""
    number: int = connection.execute(
        insert(outbox)
        .values(
            **row_of(letter, now, mail_id),
            **of_new_row(connection, outbox, letter.recipient),
            state=LetterState.COMING,
            due_at=None,
            waits_for=list(board_ids),
        )
        .returning(outbox.c.id)
    ).scalar_one()
    return number


def answers_to(
    connection: Connection, mail_id: int, player_id: int
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return kind and words of the letters to a player that a mail caused."""
    statement = select(outbox.c.letter, outbox.c.words).where(
        outbox.c.mail_id == mail_id, outbox.c.player_id == player_id
    )
    return [(row.letter, row.words) for row in connection.execute(statement.order_by(outbox.c.id))]


def row_of(letter: NewLetter, now: datetime, mail_id: int | None) -> dict[str, Any]:
    """Return the columns of a new letter except ``state`` and ``due_at``."""
    return {
        "letter": letter.letter,
        "recipient": letter.recipient,
        "player_id": letter.player_id,
        "board_id": letter.board_id,
        "ply": letter.ply,
        "seat": letter.seat,
        "words": dict(letter.words),
        "message_id": letter.message_id,
        "in_reply_to": letter.in_reply_to,
        "attempts": 0,
        "error": "",
        "created_at": now,
        "mail_id": mail_id,
    }


def key_of(connection: Connection, letter_id: int) -> dict[str, int]:
    """Return the parameters of statements about one letter: its number and its share."""
    return {"letter_id": letter_id, "letter_share": share_of(connection, letter_id)}


_BY_ID = select(*_COLUMNS).where(_IS_ROW)
_LOCKED = select(outbox.c.state).where(_IS_ROW).with_for_update()


def letter(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """Return a letter in any state, `None` if there is none."""
    row = connection.execute(_BY_ID, key_of(connection, letter_id)).first()
    return QueuedLetter(*row) if row else None


def lock(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """Return a letter as `letter` does, and lock its row until the end of the transaction."""
    connection.execute(_LOCKED, key_of(connection, letter_id))
    return letter(connection, letter_id)


def lock_waiting(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """Return a letter that waits for a bot or a report, and lock its row; `None` if it does not
    wait."""
    state = connection.execute(_LOCKED, key_of(connection, letter_id)).scalar()
    return letter(connection, letter_id) if state == LetterState.COMING else None


def boards_awaited(connection: Connection, letter_id: int) -> Sequence[int]:
    """Return the boards on which a letter waited for bots or reports when it was added."""
    statement = select(outbox.c.waits_for).where(_IS_ROW)
    return connection.execute(statement, key_of(connection, letter_id)).scalar() or ()


def change_waiting(connection: Connection, letter_id: int, **values: Any) -> None:
    """Change columns of a letter, if it waits for a bot or a report."""
    statement = _ONE.where(outbox.c.state == LetterState.COMING).values(values)
    connection.execute(statement, key_of(connection, letter_id))


def claim(
    connection: Connection,
    by: str,
    now: datetime,
    until: datetime,
    most: int,
    in_hand: Collection[int] = (),
    avoiding: Sequence[str] = (),
    since: datetime | None = None,
    share: int | None = None,
) -> list[QueuedLetter]:
    """Lease up to *most* due letters to the process *by* until *until*.

    Letters to an address that is given up are parked. Letters beyond one reader's `SHARE` are moved
    behind all letters that are due now.

    Args:
        connection: to the game store.
        by: name of the claiming process.
        now: letters that are due at this time are claimed.
        until: end of the lease.
        most: largest number of letters.
        in_hand: letters that *by* has in hand; others claimed in its name become due first.
        avoiding: recipient domains (lower case) whose letters are skipped.
        since: skip letters that were due earlier; all of these are to the avoided domains.
        share: claim letters of this share only; `None` for all.
    """
    _release_lost(connection, by, in_hand, now, share)
    values = {"now": now, "most": most}
    rows: Iterable[Sequence[Any]]
    if avoiding or share is not None:
        others = within(_ALL_DUE, outbox, share).where(_not_to(avoiding))
        if since is not None:
            others = others.where(outbox.c.due_at >= since)
        rows = connection.execute(others, values)
    else:
        rows = _DUE.run(connection, values)
    claimed, parked = list[QueuedLetter](), list[int]()
    for *columns, given_up in rows:
        row = QueuedLetter(*columns)
        if row.letter in _PARTS and row.raw is None:
            row = replace(row, effort=max(1, _PARTS[row.letter](row.words)))
        if given_up and not kind_of(row.letter).always_tried:
            parked.append(row.id)
        else:
            claimed.append(row)
    if parked:
        _PARK.run(connection, *[key_of(connection, i) for i in parked])
    if sum([row.effort for row in claimed]) > SHARE:
        claimed, postponed = _split_by_share(claimed)
        if postponed:
            _POSTPONE.run(
                connection, *[{**key_of(connection, row.id), "now": now} for row in postponed]
            )
    if claimed:
        leases = [{**key_of(connection, row.id), "until": until, "by": by} for row in claimed]
        _LEASE.run(connection, *leases)
    return claimed


def _split_by_share(
    due: Sequence[QueuedLetter],
) -> tuple[list[QueuedLetter], list[QueuedLetter]]:
    """Split letters into those within their readers' shares and those beyond."""
    within, beyond = list[QueuedLetter](), list[QueuedLetter]()
    efforts: dict[str, int] = {}
    for row in due:
        before = efforts.get(row.recipient, 0)
        efforts[row.recipient] = before + row.effort
        (beyond if before and efforts[row.recipient] > SHARE else within).append(row)
    return within, beyond


_PACKED_ROW = select(
    outbox.c.id,
    outbox.c.share,
    bindparam("packed", type_=LargeBinary),
    bindparam("now", type_=Instant),
).where(
    _IS_ROW,
    outbox.c.recipient != "",  # not erased meanwhile
    outbox.c.letter != FAREWELL,
)
_KEEP = {
    name: Prepared(
        dialect.insert(letter_bytes)
        .from_select(["letter_id", "share", "raw", "made_at"], _PACKED_ROW)
        .on_conflict_do_nothing()
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


def keep_bytes(connection: Connection, packed: Mapping[int, bytes], now: datetime) -> None:
    """Store letters that were made, so that every attempt sends the same octets.

    Args:
        packed: octets by letter, packed by `columns.pack` outside of the transaction.
    """
    rows = [{**key_of(connection, i), "packed": raw, "now": now} for i, raw in packed.items()]
    _KEEP[connection.dialect.name].run(connection, *rows)


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
    plain = [{**key_of(connection, i), "until": at} for i, at, why in waits if not why]
    with_error = [{**key_of(connection, i), "until": at, "why": why} for i, at, why in waits if why]
    if plain:
        _RELEASE.run(connection, *plain)
    if with_error:
        _RELEASE_WITH_ERROR.run(connection, *with_error)


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
        lost = within(_LOST, outbox, share).where(outbox.c.id.not_in(in_hand))
        connection.execute(lost, values)


def wake_waiting(connection: Connection, game: str, now: datetime) -> int:
    """Make the letters due that wait for a game, and return their number."""
    waits = update(outbox).where(
        outbox.c.state == LetterState.QUEUED,
        outbox.c.error == f"waits: {GameAway(game, is_stopped=True)}",
    )
    return connection.execute(waits.values(due_at=now)).rowcount


def next_due(connection: Connection, avoiding: Sequence[str] = ()) -> datetime | None:
    """Return when the next queued letter is due, without those to the domains in *avoiding*."""
    shares = shares_of(connection)
    if not avoiding and shares == UNDIVIDED:
        next_at: datetime | None = _NEXT.run(connection)[0][0]
        return next_at
    statement = _ALL_NEXT.where(_not_to(avoiding))
    moments = [connection.execute(within(statement, outbox, share)).scalar() for share in shares]
    return min((moment for moment in moments if moment is not None), default=None)


def _not_to(domains: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a letter is not to one of these domains."""
    to = func.lower(outbox.c.recipient)
    return and_(true(), *(not_(to.endswith(f"@{domain}", autoescape=True)) for domain in domains))
