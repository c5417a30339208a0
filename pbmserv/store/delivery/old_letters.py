"""Rows of letters that were sent, or given up, long ago: they shrink, and most are deleted.

A letter that its reader can end (see `mail.letter_kinds`) leaves a row with reader and time for
good, because a List-Unsubscribe link never expires. Digests leave what replies to them need. Rows
of other letters are deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.store.core.statements import columns_of
from pbmserv.store.tables.mail import IS_OVER, outbox


@dataclass(frozen=True, slots=True)
class OldLetter:
    """A letter that was sent, or given up, long ago."""

    id: int
    letter: str
    words: Mapping[str, Any]


_OVER_SINCE = func.coalesce(outbox.c.sent_at, outbox.c.created_at)
_WITH_WORDS = (
    select(*columns_of(OldLetter, outbox))
    .where(outbox.c.created_at < bindparam("before"), bindparam("before") > _OVER_SINCE, IS_OVER)
    .order_by(outbox.c.created_at)
    .limit(bindparam("most"))
)
_STRIP = (
    update(outbox)
    .where(outbox.c.id == bindparam("letter_id"))
    .values(recipient="", words=bindparam("few"), message_id="", in_reply_to="", error="")
)


def with_words(connection: Connection, before: datetime, most: int) -> list[OldLetter]:
    """Return letters that were over before a moment and have their words, oldest first."""
    return [
        OldLetter(*row) for row in connection.execute(_WITH_WORDS, {"before": before, "most": most})
    ]


def strip(connection: Connection, letters: Mapping[int, Mapping[str, Any]]) -> None:
    """Remove addresses and words of letters, except the given words by number."""
    connection.execute(_STRIP, [{"letter_id": i, "few": dict(few)} for i, few in letters.items()])


def remove(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete letters."""
    connection.execute(delete(outbox).where(outbox.c.id.in_(numbers)))


def leaves_row(letter: OldLetter) -> bool:
    """Return whether a part of a letter's row stays for good."""
    return bool(kind_of(letter.letter).subscription)
