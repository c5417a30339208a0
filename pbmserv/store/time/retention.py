"""Rows of letters and mails that are over: what of them goes, and what stays for good.

For good stays of a letter that its reader can end (see `render.kinds`) who got what and when, since
a List-Unsubscribe has no last day, and what a reply to a digest needs; other letters go altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from pbmserv.letters.kinds import brought_by
from pbmserv.store.tables import letter_bytes, outbox
from pbmserv.store.tables.mail import IS_OVER


@dataclass(frozen=True, slots=True)
class OldLetter:
    """A letter of which less is to be kept from now on."""

    id: int
    letter: str
    words: Mapping[str, Any]


_OVER_SINCE = func.coalesce(outbox.c.sent_at, outbox.c.created_at)
_MAILED = (
    select(letter_bytes.c.letter_id)
    .join(outbox, outbox.c.id == letter_bytes.c.letter_id)
    .where(letter_bytes.c.made_at < bindparam("before"), bindparam("before") > _OVER_SINCE, IS_OVER)
    .order_by(letter_bytes.c.made_at)
    .limit(bindparam("most"))
)
_OLD = (
    select(outbox.c.id, outbox.c.letter, outbox.c.words)
    .where(outbox.c.created_at < bindparam("before"), bindparam("before") > _OVER_SINCE, IS_OVER)
    .order_by(outbox.c.created_at)
    .limit(bindparam("most"))
)
_BARE = (
    update(outbox)
    .where(outbox.c.id == bindparam("letter_id"))
    .values(recipient="", words=bindparam("few"), message_id="", in_reply_to="", error="")
)


def mailed(connection: Connection, before: datetime, most: int) -> list[int]:
    """Letters that were over before then and are still kept as they were mailed, oldest first."""
    return list(connection.scalars(_MAILED, {"before": before, "most": most}))


def forget_bytes(connection: Connection, numbers: Sequence[int]) -> None:
    """Keep these letters no longer as they were mailed."""
    connection.execute(delete(letter_bytes).where(letter_bytes.c.letter_id.in_(numbers)))


def old(connection: Connection, before: datetime, most: int) -> list[OldLetter]:
    """Letters that were over before then and whose rows are whole, oldest first."""
    return [OldLetter(*row) for row in connection.execute(_OLD, {"before": before, "most": most})]


def bare(connection: Connection, letters: Mapping[int, Mapping[str, Any]]) -> None:
    """Keep of these letters, by number, no words but those given here, and no address."""
    connection.execute(_BARE, [{"letter_id": i, "few": dict(few)} for i, few in letters.items()])


def remove(connection: Connection, numbers: Sequence[int]) -> None:
    """Keep nothing of these letters."""
    connection.execute(delete(outbox).where(outbox.c.id.in_(numbers)))


def stays(letter: OldLetter) -> bool:
    """Whether something of a letter is kept for good."""
    return bool(brought_by(letter.letter))
