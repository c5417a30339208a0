"""The mails of one correspondent and the letters to them, as operators list them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from pbmserv.store.core.statements import columns_of, has_row
from pbmserv.store.delivery import arrivals as arrival_rows
from pbmserv.store.delivery import mail_stores, settled_arrivals
from pbmserv.store.tables.mail import LetterState, MailState, arrivals, inbox, outbox


@dataclass(frozen=True, slots=True)
class MailLine:
    """A mail in a list, without its text.

    Attributes:
        error: the reason why it was not carried out; a traceback for a kept mail.
    """

    id: int
    recipient: str
    state: MailState
    error: str
    received_at: datetime
    verdict: str


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A letter in a list, without its words."""

    id: int
    letter: str
    board_id: int | None
    state: LetterState
    attempts: int
    due_at: datetime | None
    error: str
    created_at: datetime
    sent_at: datetime | None
    mail_id: int | None


def mails_from(
    connection: Connection, senders: Collection[str], player_id: int | None, most: int
) -> list[MailLine]:
    """Return the newest mails of a player, or from any of these addresses, newest first."""
    statement = select(*columns_of(MailLine, inbox)).where(
        _either(inbox.c.sender.in_(senders), inbox.c.player_id, player_id)
    )
    rows = connection.execute(statement.order_by(inbox.c.id.desc()).limit(most))
    return [MailLine(*row) for row in rows]


def letters_to(
    connection: Connection, recipients: Collection[str], player_id: int | None, most: int
) -> list[AnswerLine]:
    """Return the newest letters to a player, or to any of these addresses, newest first."""
    statement = select(*columns_of(AnswerLine, outbox)).where(
        _either(func.lower(outbox.c.recipient).in_(recipients), outbox.c.player_id, player_id)
    )
    rows = connection.execute(statement.order_by(outbox.c.id.desc()).limit(most))
    return [AnswerLine(*row) for row in rows]


def refusals_of(connection: Connection, mails: Sequence[int]) -> list[tuple[int, Any]]:
    """Return the number of the mail and the words of each letter that answers one of *mails*."""
    statement = select(outbox.c.mail_id, outbox.c.words).where(outbox.c.mail_id.in_(mails))
    return [(row.mail_id, row.words) for row in connection.execute(statement.order_by(outbox.c.id))]


def waiting_from(
    mail: Connection, senders: Collection[str], player_id: int | None
) -> list[tuple[int, datetime]]:
    """Return number and time of the stored arrivals of a correspondent, oldest first.

    Args:
        mail: connection to the mail store.
    """
    statement = select(arrivals.c.id, arrivals.c.received_at).where(
        _either(func.lower(arrivals.c.sender).in_(senders), arrivals.c.player_id, player_id)
    )
    return [(row.id, row.received_at) for row in mail.execute(statement.order_by(arrivals.c.id))]


def is_under_way(
    mail: Connection, game: Connection, address: str, now: datetime, last: int
) -> bool:
    """Return whether mails up to a number, or letters to *address*, are being worked on.

    Letters that are due later do not count.

    Args:
        last: largest number of mails that count.
    """
    waiting = [number for number in arrival_rows.numbers(mail) if number <= last]
    if waiting:
        done = settled_arrivals.numbers_since(game, mail_stores.uuid_of(mail), waiting[0])
        if not done.issuperset(waiting):
            return True
    is_due = or_(outbox.c.due_at <= now, outbox.c.claimed_by.is_not(None))
    return has_row(
        game,
        outbox,
        func.lower(outbox.c.recipient) == address.lower(),
        or_(
            and_(outbox.c.state == LetterState.QUEUED, is_due),
            outbox.c.state == LetterState.COMING,
        ),
    )


def _either(
    by_address: ColumnElement[bool], column: ColumnElement[Any], player_id: int | None
) -> ColumnElement[bool]:
    return by_address if player_id is None else or_(column == player_id, by_address)
