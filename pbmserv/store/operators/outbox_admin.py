"""Rows of the outbox as operators look at them, and what they change there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, exists, func, not_, select, update

from pbmserv.store.tables import letter_bytes, outbox

DROPPED = "dropped: "
"""How the fault of a letter begins that an operator will never have sent."""


@dataclass(frozen=True, slots=True)
class PostRow:
    """A letter in the outbox; `made`: its mail is kept as it was sent, or is going to be."""

    id: int
    letter: str
    recipient: str
    board_id: int | None
    state: str
    attempts: int
    due_at: datetime | None
    error: str
    created_at: datetime
    sent_at: datetime | None
    made: bool


_ROW = select(
    outbox.c.id,
    outbox.c.letter,
    outbox.c.recipient,
    outbox.c.board_id,
    outbox.c.state,
    outbox.c.attempts,
    outbox.c.due_at,
    outbox.c.error,
    outbox.c.created_at,
    outbox.c.sent_at,
    exists().where(letter_bytes.c.letter_id == outbox.c.id),
)


def listed(connection: Connection, states: tuple[str, ...], to: str, most: int) -> list[PostRow]:
    """Letters of these states, newest first; *to* stands somewhere in the address."""
    statement = _ROW.where(outbox.c.state.in_(states)).order_by(outbox.c.id.desc()).limit(most)
    if to:
        statement = statement.where(outbox.c.recipient.contains(to, autoescape=True))
    return [PostRow(*row) for row in connection.execute(statement)]


def failed(connection: Connection, since: datetime | None) -> list[int]:
    """Numbers of letters that have failed, oldest first; of those since then if that is given.

    Not those that operators have dropped, nor those of which there is a copy to be sent.
    """
    statement = select(outbox.c.id, outbox.c.message_id).where(
        outbox.c.state == "failed",
        outbox.c.recipient != "",
        not_(outbox.c.error.startswith(DROPPED)),
    )
    if since is not None:
        statement = statement.where(outbox.c.created_at >= since)
    found = connection.execute(statement.order_by(outbox.c.id)).all()
    ids = {row.message_id for row in found}
    newest = connection.execute(
        select(outbox.c.message_id, func.max(outbox.c.id).label("newest"))
        .where(outbox.c.message_id.in_(ids))
        .group_by(outbox.c.message_id)
    )
    last = {row.message_id: row.newest for row in newest}
    return [row.id for row in found if last[row.message_id] == row.id]


def one(connection: Connection, letter_id: int) -> PostRow | None:
    """A letter, locked in a transaction that writes."""
    row = connection.execute(_ROW.where(outbox.c.id == letter_id).with_for_update()).first()
    return PostRow(*row) if row else None


def put(
    connection: Connection, letter_id: int, state: str, due_at: datetime | None, error: str
) -> None:
    """Change what becomes of a letter."""
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id)
        .values(state=state, due_at=due_at, error=error, claimed=False)
    )
