"""Rows of letters beside the queue: their bytes, those to drop or quote, those that wait for a
digest, those that are over.

For good stays of a letter that its reader can end (see `mail.letter_kinds`) who got what and when,
since a List-Unsubscribe has no last day, and what a reply to a digest needs; other letters go
altogether.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.store.core.statements import columns_of
from pbmserv.store.delivery import outbox as rows
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.mail import IS_OVER, UNSENT, LetterState, letter_bytes, outbox


def bytes_of(connection: Connection, letter_id: int) -> bytes | None:
    """A letter as it was mailed, or is going to be; ``None``: not made yet, or not kept any more.

    `letters.compose` makes it again from the record, as long as the words of its row are kept.
    """
    found: bytes | None = connection.execute(
        select(letter_bytes.c.raw).where(letter_bytes.c.letter_id == letter_id)
    ).scalar()
    return found


def copy_bytes(connection: Connection, letter_id: int, copy_id: int) -> None:
    """Keep for a letter's copy what is kept for the letter."""
    kept = select(literal(copy_id), letter_bytes.c.raw, letter_bytes.c.made_at).where(
        letter_bytes.c.letter_id == letter_id
    )
    connection.execute(insert(letter_bytes).from_select(["letter_id", "raw", "made_at"], kept))


def drop_bytes(connection: Connection, which: ColumnElement[bool]) -> None:
    """Those of the letters that will be sent are made anew; *which* is about rows of `outbox`."""
    connection.execute(
        delete(letter_bytes).where(letter_bytes.c.letter_id.in_(select(outbox.c.id).where(which)))
    )


_UNSENT = (
    select(
        outbox.c.id,
        outbox.c.player_id,
        exists().where(letter_bytes.c.letter_id == outbox.c.id).label("made"),
        outbox.c.due_at,
        outbox.c.words,
    )
    .where(
        # partial indexes keep these at hand
        outbox.c.state.in_((LetterState.QUEUED, LetterState.DIGEST)),
        outbox.c.board_id == bindparam("board"),
        outbox.c.ply > bindparam("after"),
        outbox.c.letter != "chat",
    )
    .with_for_update()  # a sender that is about to claim them has to wait
)


@dataclass(frozen=True, slots=True)
class Unsent:
    """A letter in the queue or in a tray.

    Attributes:
        player_id: whom it goes to; ``None`` = a stranger.
        begun: a sender has it in hand or has tried it, so it may have been read.
        says: another player's words are in it.
    """

    id: int
    player_id: int | None
    begun: bool
    says: bool


def unsent_about(connection: Connection, board_id: int, after: int, now: datetime) -> list[Unsent]:
    """The letters that show a ply behind *after*; nobody can claim them meanwhile."""
    found = connection.execute(_UNSENT, {"board": board_id, "after": after})
    return [
        Unsent(
            row.id,
            row.player_id,
            row.made or (row.due_at is not None and row.due_at > now),
            bool(row.words.get("said")),
        )
        for row in found
    ]


def drop_unsent(connection: Connection, letters: Collection[Unsent]) -> None:
    """Drop these letters; where a person's words are in one, only the words are sent."""
    words = [letter.id for letter in letters if letter.says]
    gone = [letter.id for letter in letters if not letter.says]
    if words:
        connection.execute(update(outbox).where(outbox.c.id.in_(words)).values(letter="chat"))
    if gone:
        connection.execute(delete(outbox).where(outbox.c.id.in_(gone)))


def silence(connection: Connection, reader_ids: Collection[int], userids: Collection[str]) -> None:
    """Take the words of some players out of letters to others that have not been sent yet.

    Letters that bring nothing else are not sent.
    """
    rows = connection.execute(
        select(outbox.c.id, outbox.c.letter, outbox.c.words).where(
            outbox.c.player_id.in_(reader_ids), outbox.c.state.in_(UNSENT)
        )
    ).all()
    for row in rows:
        words = _silenced(row.words, userids)
        if words == row.words:
            continue
        drop_bytes(connection, outbox.c.id == row.id)
        values: dict[str, Any] = {"words": words}
        if kind_of(row.letter).only_words:
            why = "its reader blocks the writer"
            values |= {"state": LetterState.FAILED, "due_at": None, "error": why}
        connection.execute(update(outbox).where(outbox.c.id == row.id).values(values))


def _silenced(words: Any, userids: Collection[str]) -> Any:
    match words:
        case dict():
            inner = {key: _silenced(value, userids) for key, value in words.items()}
            return (
                {**inner, "said": ""} if "said" in inner and inner.get("by") in userids else inner
            )
        case list() | tuple():
            return [_silenced(value, userids) for value in words]
        case _:
            return words


_TRAY = (
    select(*columns_of(QueuedLetter, outbox))
    .where(outbox.c.player_id == bindparam("player"), outbox.c.state == LetterState.DIGEST)
    .order_by(outbox.c.id)
)
_FOLD = update(outbox).where(outbox.c.id == bindparam("letter_id")).values(state=LetterState.FOLDED)


def tray(connection: Connection, player_id: int) -> list[QueuedLetter]:
    """Letters that wait for a player's one mail a day, oldest first."""
    return [QueuedLetter(*row) for row in connection.execute(_TRAY, {"player": player_id})]


def fold(connection: Connection, ids: Sequence[int]) -> None:
    """These went into the one mail a day."""
    connection.execute(_FOLD, [{"letter_id": i} for i in ids])


NEWEST = 500
"""Letters to a player among which those are looked for that a mail's headers name."""

OF_THE_BOARD = 2
AT_ALL = 5
"""Newest letters that are looked at, whatever the headers name: people answer one letter with
another in front of them."""


def answerable(
    connection: Connection,
    player_id: int,
    message_ids: Sequence[str],
    *,
    board_id: int | None,
    letter_id: int | None,
) -> list[QueuedLetter]:
    """The letters to a player that a mail may quote, newest first.

    Args:
        message_ids: those that its headers name, with angle brackets.
        board_id: the board that it speaks of; ``None`` = none.
        letter_id: the letter that its reply address names; ``None`` = none.
    """
    newest = connection.execute(
        select(outbox.c.id, outbox.c.message_id, outbox.c.board_id, outbox.c.letter)
        .where(outbox.c.player_id == player_id)
        .order_by(outbox.c.id.desc())
        .limit(NEWEST)
    ).all()
    wanted = set(message_ids)
    named = {row.id for row in newest if row.message_id in wanted or row.id == letter_id}
    newest = [row for row in newest if not kind_of(row.letter).own_words]
    about = [row.id for row in newest if row.board_id == board_id and board_id is not None]
    chosen = named | set(about[:OF_THE_BOARD]) | {row.id for row in newest[:AT_ALL]}
    found = [rows.letter(connection, number) for number in sorted(chosen, reverse=True)]
    return [letter for letter in found if letter is not None]


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
    select(*columns_of(OldLetter, outbox))
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
    return bool(kind_of(letter.letter).subscription)
