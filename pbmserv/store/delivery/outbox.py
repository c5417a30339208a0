"""Rows of letters: queued with the change they tell of; claimed, kept and settled by senders."""

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
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.mail.letter_kinds import kind_of, letters_that
from pbmserv.store.core.statements import Prepared, columns_of
from pbmserv.store.tables.columns import Instant
from pbmserv.store.tables.mail import LetterState, bounces, letter_bytes, outbox


@dataclass(frozen=True, slots=True)
class NewLetter:
    """A letter to queue.

    Attributes:
        letter: its template folder.
        recipient: address it goes to.
        player_id: whose reply address it carries; ``None`` = a stranger.
        board_id, ply, seat: the position it shows and to whom; ``seat`` None = spectator.
        words: what the record does not hold, ready for JSON.
        message_id, in_reply_to: with angle brackets; ``in_reply_to`` may be "".
        tray: waits for its player's one mail a day.
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

    `raw`: for `claim` alone, the mail that was made for an earlier attempt; else empty.
    `mail_id`: the mail that led to it, if one did.
    `effort`: of `claim` alone: what it takes to make it, in plain letters: as many as its parts; a
    whole share if files travel with it, such as all that is kept of a player.
    """

    id: int = 0
    attempts: int = 0
    created_at: datetime = datetime.min  # noqa: DTZ901 - always given; dataclass inheritance wants one
    mail_id: int | None = None
    raw: bytes | None = field(default=None, repr=False)
    effort: int = 1


SHARE = 100
"""What letters to one reader may take of what is claimed at once, in plain letters; there is always
one of them."""


_PARTS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "summary": lambda words: sum([len(line["parts"]) for line in words["lines"]]),
    **dict.fromkeys(
        ("tray", "reminders"), lambda words: len(words["waiting"]) + len(words["news"])
    ),
    **dict.fromkeys(letters_that(lambda kind: kind.has_files), lambda _: SHARE),
}
"""How much is in letters that are not about one thing."""


(FAREWELL,) = letters_that(lambda kind: kind.leaves_nothing)
"""The last letter to somebody of whom nothing shall be kept: once it is gone, not even that."""


_FORGET = {"recipient": case((outbox.c.letter == FAREWELL, ""), else_=outbox.c.recipient)}
_COLUMNS = columns_of(QueuedLetter, outbox)
_ADD = Prepared(
    insert(outbox),
    (
        *("letter", "recipient", "player_id", "board_id", "ply", "seat", "words", "message_id"),
        *("in_reply_to", "state", "attempts", "due_at", "error", "created_at", "mail_id"),
    ),
)
_GIVEN_UP = exists().where(
    bounces.c.address == outbox.c.recipient, bounces.c.suspended_at.is_not(None)
)
_ALL_DUE = (
    select(
        *_COLUMNS,
        letter_bytes.c.raw,
        and_(outbox.c.player_id.is_not(None), _GIVEN_UP).label("given_up"),
    )
    .select_from(outbox.outerjoin(letter_bytes, letter_bytes.c.letter_id == outbox.c.id))
    .where(outbox.c.state == LetterState.QUEUED, outbox.c.due_at <= bindparam("now"))
    .order_by(outbox.c.due_at, outbox.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=outbox)
)
_DUE = Prepared(_ALL_DUE)
_ONE = update(outbox).where(outbox.c.id == bindparam("letter_id"))
_CAME_BACK = or_(
    outbox.c.state == LetterState.SENT,
    outbox.c.state == LetterState.RETURNED,
    and_(outbox.c.state == LetterState.FAILED, outbox.c.sent_at.is_not(None)),
)
_IN_HAND = _ONE.where(not_(_CAME_BACK))
"""A report can arrive before its letter's sender settles the letter: then the report stands."""
_LEASE = Prepared(_ONE.values(due_at=bindparam("until"), claimed_by=bindparam("by")))
_RENEW = Prepared(
    _ONE.where(outbox.c.state == LetterState.QUEUED, outbox.c.claimed_by.is_not(None)).values(
        due_at=bindparam("until")
    )
)
_PUT_BEHIND = Prepared(_ONE.values(due_at=bindparam("now")))
_RELEASE = Prepared(_IN_HAND.values(due_at=bindparam("until"), claimed_by=None))
_WAIT = Prepared(
    _IN_HAND.values(due_at=bindparam("until"), error=bindparam("why"), claimed_by=None)
)
_SENT = Prepared(
    _IN_HAND.values(
        state=LetterState.SENT,
        due_at=None,
        claimed_by=None,
        sent_at=bindparam("at"),
        error="",
        **_FORGET,
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
        **_FORGET,
    )
)
_PARK = Prepared(_ONE.values(state=LetterState.PARKED, due_at=None, claimed_by=None))
_ALL_NEXT = select(func.min(outbox.c.due_at)).where(outbox.c.state == LetterState.QUEUED)
_NEXT = Prepared(_ALL_NEXT)


def add(
    connection: Connection, letters: Sequence[NewLetter], now: datetime, mail_id: int | None = None
) -> None:
    """Queue letters; they are due at once. Who has left has no address and gets none.

    Args:
        mail_id: the mail that led to them; ``None`` = the time, the house, a page, an operator.
    """
    letters = [letter for letter in letters if letter.recipient]
    if not letters:
        return
    _ADD.run(
        connection,
        *[
            {
                **row_of(letter, now, mail_id),
                "state": LetterState.DIGEST if letter.tray else LetterState.QUEUED,
                "due_at": None if letter.tray else now,
            }
            for letter in letters
        ],
    )


def answers_to(
    connection: Connection, mail_id: int, player_id: int
) -> list[tuple[str, Mapping[str, Any]]]:
    """Kind and words of the letters to a player that a mail led to."""
    found = select(outbox.c.letter, outbox.c.words).where(
        outbox.c.mail_id == mail_id, outbox.c.player_id == player_id
    )
    return [(row.letter, row.words) for row in connection.execute(found.order_by(outbox.c.id))]


def row_of(letter: NewLetter, now: datetime, mail_id: int | None) -> dict[str, Any]:
    """The columns of a new letter, but for its state and when it is due."""
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


_BY_ID = select(*_COLUMNS).where(outbox.c.id == bindparam("letter_id"))


def letter(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """The letter with this number, whatever has become of it."""
    row = connection.execute(_BY_ID, {"letter_id": letter_id}).first()
    return QueuedLetter(*row) if row else None


def locked(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """As `letter`; nobody else locks it until this transaction ends."""
    connection.execute(select(outbox.c.id).where(outbox.c.id == letter_id).with_for_update())
    return letter(connection, letter_id)


def claim(
    connection: Connection,
    by: str,
    now: datetime,
    until: datetime,
    most: int,
    in_hand: Collection[int] = (),
    avoiding: Sequence[str] = (),
    since: datetime | None = None,
) -> list[QueuedLetter]:
    """Lease up to *most* due letters to the process *by* until *until*.

    Letters to an address that is given up are parked. Letters beyond one reader's `SHARE` are put
    behind all that are due by now, in their order.

    Args:
        connection: to the game store.
        by: name of the claiming process.
        now: letters due by then are claimed.
        until: end of the lease.
        most: largest number of letters.
        in_hand: letters that *by* has in hand; others claimed in its name become due first.
        avoiding: recipient domains (lower case) whose letters are left alone.
        since: earlier due times are all of these domains, maybe thousands.
    """
    _release_lost(connection, by, in_hand, now)
    values = {"now": now, "most": most}
    rows: Iterable[Sequence[Any]]
    if avoiding:
        others = _ALL_DUE.where(_not_to(avoiding))
        if since is not None:
            others = others.where(outbox.c.due_at >= since)
        rows = connection.execute(others, values)
    else:
        rows = _DUE.run(connection, values)
    found, parked = list[QueuedLetter](), list[int]()
    for *columns, given_up in rows:
        row = QueuedLetter(*columns)
        if row.letter in _PARTS and row.raw is None:
            row = replace(row, effort=max(1, _PARTS[row.letter](row.words)))
        if given_up and not kind_of(row.letter).always_tried:
            parked.append(row.id)
        else:
            found.append(row)
    if parked:
        _PARK.run(connection, *[{"letter_id": i} for i in parked])
    if sum([row.effort for row in found]) > SHARE:
        found, behind = _shared_out(found)
        if behind:
            _PUT_BEHIND.run(connection, *[{"letter_id": row.id, "now": now} for row in behind])
    if found:
        _LEASE.run(connection, *[{"letter_id": row.id, "until": until, "by": by} for row in found])
    return found


def _shared_out(due: Sequence[QueuedLetter]) -> tuple[list[QueuedLetter], list[QueuedLetter]]:
    """Letters that are within their readers' shares, and those beyond."""
    within, beyond = list[QueuedLetter](), list[QueuedLetter]()
    taken: dict[str, int] = {}
    for row in due:
        before = taken.get(row.recipient, 0)
        taken[row.recipient] = before + row.effort
        (beyond if before and taken[row.recipient] > SHARE else within).append(row)
    return within, beyond


_MADE = select(
    outbox.c.id,
    bindparam("packed", type_=LargeBinary),
    bindparam("now", type_=Instant),
).where(
    outbox.c.id == bindparam("letter_id"),
    outbox.c.recipient != "",  # not what was forgotten in the meantime
    outbox.c.letter != FAREWELL,
)
_KEEP = {
    name: Prepared(
        dialect.insert(letter_bytes)
        .from_select(["letter_id", "raw", "made_at"], _MADE)
        .on_conflict_do_nothing()
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


def keep_bytes(connection: Connection, made: Mapping[int, bytes], now: datetime) -> None:
    """Keep letters that were made, so that every retry is the same mail.

    Args:
        made: letters by number, packed (`columns.pack`): a tenth of a millisecond each, which
            nobody needs to spend inside a transaction.
    """
    rows = [{"letter_id": i, "packed": raw, "now": now} for i, raw in made.items()]
    _KEEP[connection.dialect.name].run(connection, *rows)


def renew(connection: Connection, ids: Sequence[int], until: datetime) -> None:
    """Extend the leases of letters that are still claimed."""
    _RENEW.run(connection, *[{"letter_id": i, "until": until} for i in ids])


def sent(connection: Connection, ids: Sequence[int], now: datetime) -> None:
    """The next hop has taken these; those that came back by now stay as they are."""
    _SENT.run(connection, *[{"letter_id": i, "at": now} for i in ids])


def later(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Try these again: (id, when, why)."""
    _LATER.run(connection, *[{"letter_id": i, "at": at, "why": why} for i, at, why in waits])


def release(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Give claimed letters back without an attempt: (id, when they are due, why if that is new)."""
    plain = [{"letter_id": i, "until": at} for i, at, why in waits if not why]
    told = [{"letter_id": i, "until": at, "why": why} for i, at, why in waits if why]
    if plain:
        _RELEASE.run(connection, *plain)
    if told:
        _WAIT.run(connection, *told)


def failed(connection: Connection, losses: Sequence[tuple[int, str]]) -> None:
    """These will not be tried again: (id, why)."""
    _FAILED.run(connection, *[{"letter_id": i, "why": why} for i, why in losses])


def _release_lost(connection: Connection, by: str, in_hand: Collection[int], now: datetime) -> None:
    """Make the letters due that *by* has claimed and does not have *in_hand*."""
    connection.execute(
        update(outbox)
        .where(
            outbox.c.state == LetterState.QUEUED,
            outbox.c.claimed_by == by,
            outbox.c.id.not_in(in_hand),
        )
        .values(due_at=now, claimed_by=None)
    )


def next_due(connection: Connection, avoiding: Sequence[str] = ()) -> datetime | None:
    """When the next queued letter is due, but for those to the domains in *avoiding*."""
    found: datetime | None
    if avoiding:
        found = connection.execute(_ALL_NEXT.where(_not_to(avoiding))).scalar()
    else:
        found = _NEXT.run(connection)[0][0]
    return found


def _not_to(domains: Sequence[str]) -> ColumnElement[bool]:
    """Letters to nobody at these domains."""
    to = func.lower(outbox.c.recipient)
    return and_(*(not_(to.endswith(f"@{domain}", autoescape=True)) for domain in domains))
