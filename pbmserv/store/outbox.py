"""Rows of letters: queued with the change they tell of, claimed and settled by senders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from pbmserv.store.models import outbox
from pbmserv.store.prepared import Prepared


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


@dataclass(frozen=True, slots=True)
class QueuedLetter(NewLetter):
    """A letter in the queue; `raw` is empty until it has been rendered once."""

    id: int = 0
    attempts: int = 0
    created_at: datetime = datetime.min  # noqa: DTZ901 - always given; dataclass inheritance wants one
    raw: bytes | None = field(default=None, repr=False)


_ADD = Prepared(
    insert(outbox),
    (
        "letter",
        "recipient",
        "player_id",
        "board_id",
        "ply",
        "seat",
        "words",
        "message_id",
        "in_reply_to",
        "state",
        "attempts",
        "due_at",
        "error",
        "created_at",
    ),
)
_DUE = Prepared(
    select(
        outbox.c.letter,
        outbox.c.recipient,
        outbox.c.words,
        outbox.c.message_id,
        outbox.c.in_reply_to,
        outbox.c.player_id,
        outbox.c.board_id,
        outbox.c.ply,
        outbox.c.seat,
        outbox.c.id,
        outbox.c.attempts,
        outbox.c.created_at,
        outbox.c.raw,
    )
    .where(outbox.c.state == "queued", outbox.c.due_at <= bindparam("now"))
    .order_by(outbox.c.due_at, outbox.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_ONE = update(outbox).where(outbox.c.id == bindparam("letter_id"))
_LEASE = Prepared(_ONE.values(due_at=bindparam("until")))
_KEEP = Prepared(_ONE.values(raw=bindparam("made")))
_SENT = Prepared(_ONE.values(state="sent", due_at=None, sent_at=bindparam("at"), error=""))
_LATER = Prepared(
    _ONE.values(due_at=bindparam("at"), error=bindparam("why"), attempts=outbox.c.attempts + 1)
)
_FAILED = Prepared(
    _ONE.values(state="failed", due_at=None, error=bindparam("why"), attempts=outbox.c.attempts + 1)
)
_NEXT = Prepared(select(func.min(outbox.c.due_at)).where(outbox.c.state == "queued"))


def add(connection: Connection, letters: Sequence[NewLetter], now: datetime) -> None:
    """Queue letters; they are due at once."""
    _ADD.run_each(
        connection,
        [
            {
                "letter": letter.letter,
                "recipient": letter.recipient,
                "player_id": letter.player_id,
                "board_id": letter.board_id,
                "ply": letter.ply,
                "seat": letter.seat,
                "words": dict(letter.words),
                "message_id": letter.message_id,
                "in_reply_to": letter.in_reply_to,
                "state": "queued",
                "attempts": 0,
                "due_at": now,
                "error": "",
                "created_at": now,
            }
            for letter in letters
        ],
    )


def claim(connection: Connection, now: datetime, until: datetime, most: int) -> list[QueuedLetter]:
    """Take up to *most* due letters; nobody else gets them before *until*."""
    found = [QueuedLetter(*row) for row in _DUE.rows(connection, {"now": now, "most": most})]
    if found:
        _LEASE.run_each(connection, [{"letter_id": row.id, "until": until} for row in found])
    return found


def keep(connection: Connection, made: Mapping[int, bytes]) -> None:
    """Keep the bytes of letters that were rendered, so that every retry is the same mail."""
    _KEEP.run_each(connection, [{"letter_id": i, "made": raw} for i, raw in made.items()])


def sent(connection: Connection, ids: Sequence[int], now: datetime) -> None:
    """The next hop has taken these."""
    _SENT.run_each(connection, [{"letter_id": i, "at": now} for i in ids])


def later(connection: Connection, waits: Sequence[tuple[int, datetime, str]]) -> None:
    """Try these again: (id, when, why)."""
    _LATER.run_each(connection, [{"letter_id": i, "at": at, "why": why} for i, at, why in waits])


def release(connection: Connection, waits: Sequence[tuple[int, datetime]]) -> None:
    """Give claimed letters back without an attempt: (id, when they are due)."""
    _LEASE.run_each(connection, [{"letter_id": i, "until": at} for i, at in waits])


def failed(connection: Connection, losses: Sequence[tuple[int, str]]) -> None:
    """These will not be tried again: (id, why)."""
    _FAILED.run_each(connection, [{"letter_id": i, "why": why} for i, why in losses])


def reclaim(connection: Connection, now: datetime) -> None:
    """Make letters due that a process claimed and died with; for the only process there is.

    Those that wait after a failed attempt keep waiting.
    """
    connection.execute(
        update(outbox)
        .where(outbox.c.state == "queued", outbox.c.attempts == 0, outbox.c.due_at > now)
        .values(due_at=now)
    )


def next_due(connection: Connection) -> datetime | None:
    """When the next queued letter is due."""
    found: datetime | None = _NEXT.rows(connection)[0][0]
    return found
