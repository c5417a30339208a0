"""Rows of letters, which are queued in the transaction of the change that they tell of.

`letter_claims` has the statements of senders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    insert,
    select,
    update,
)

from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import columns_of, first_row
from pbmserv.store.delivery.shares import (
    next_number,
    of_new_row,
    share_for,
    share_of,
)
from pbmserv.store.tables.mail import LetterState, outbox


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
        for_digest: whether it waits for its player's daily digest.
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
    for_digest: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class QueuedLetter(NewLetter):
    """A letter in the queue.

    Attributes:
        mail_id: mail that caused it; `None` if a clock, a bot, a page or an operator did.
    """

    id: int = 0
    attempts: int = 0
    created_at: datetime = datetime.min  # noqa: DTZ901 - never used; fields after defaults need one
    mail_id: int | None = None


COLUMNS = columns_of(QueuedLetter, outbox)
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
IS_ROW = and_(outbox.c.id == bindparam("letter_id"), outbox.c.share == bindparam("letter_share"))


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
                "state": LetterState.DIGEST if letter.for_digest else LetterState.QUEUED,
                "due_at": None if letter.for_digest else now,
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


_BY_ID = select(*COLUMNS).where(IS_ROW)
_LOCKED = select(outbox.c.state).where(IS_ROW).with_for_update()


def letter(connection: Connection, letter_id: int) -> QueuedLetter | None:
    """Return a letter in any state, `None` if there is none."""
    return first_row(connection, QueuedLetter, _BY_ID, key_of(connection, letter_id))


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
    statement = select(outbox.c.waits_for).where(IS_ROW)
    return connection.execute(statement, key_of(connection, letter_id)).scalar() or ()


def change_waiting(connection: Connection, letter_id: int, **values: Any) -> None:
    """Change columns of a letter, if it waits for a bot or a report."""
    statement = update(outbox).where(IS_ROW, outbox.c.state == LetterState.COMING).values(values)
    connection.execute(statement, key_of(connection, letter_id))
