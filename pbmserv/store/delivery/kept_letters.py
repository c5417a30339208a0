"""Rows of letters beside the queue: stored octets, unsent letters, digests, and old letters.

A letter that its reader can end (see `mail.letter_kinds`) leaves a row with reader and time for
good, because a List-Unsubscribe link never expires. Digests leave what replies to them need. Rows
of other letters are deleted.
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
    """Return the octets of a letter, `None` if they are not made yet or no longer stored.

    `letters.compose` makes them again from the record, as long as the row has its words.
    """
    raw: bytes | None = connection.execute(
        select(letter_bytes.c.raw).where(letter_bytes.c.letter_id == letter_id)
    ).scalar()
    return raw


def copy_bytes(connection: Connection, letter_id: int, copy_id: int) -> None:
    """Store the octets of a letter for a copy of it, too."""
    kept = select(literal(copy_id), letter_bytes.c.raw, letter_bytes.c.made_at).where(
        letter_bytes.c.letter_id == letter_id
    )
    connection.execute(insert(letter_bytes).from_select(["letter_id", "raw", "made_at"], kept))


def drop_bytes(connection: Connection, which: ColumnElement[bool]) -> None:
    """Delete the octets of letters; unsent ones are made again. *which* is about `outbox`."""
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
        outbox.c.state.in_((LetterState.QUEUED, LetterState.DIGEST)),
        outbox.c.board_id == bindparam("board"),
        outbox.c.ply > bindparam("after"),
        outbox.c.letter != "chat",
    )
    .with_for_update()  # senders cannot claim them meanwhile
)


@dataclass(frozen=True, slots=True)
class Unsent:
    """A letter in the queue or in a digest.

    Attributes:
        player_id: its reader; `None` for a stranger.
        begun: whether a sender has tried it or has it in hand, so that it may have been read.
        says: whether it carries words of another player.
    """

    id: int
    player_id: int | None
    begun: bool
    says: bool


def unsent_about(connection: Connection, board_id: int, after: int, now: datetime) -> list[Unsent]:
    """Return the letters that show a ply after *after*, and lock them against senders."""
    rows = connection.execute(_UNSENT, {"board": board_id, "after": after})
    return [
        Unsent(
            row.id,
            row.player_id,
            row.made or (row.due_at is not None and row.due_at > now),
            bool(row.words.get("said")),
        )
        for row in rows
    ]


def drop_unsent(connection: Connection, letters: Collection[Unsent]) -> None:
    """Drop letters; of those that carry words of a player, send only the words."""
    words = [letter.id for letter in letters if letter.says]
    dropped = [letter.id for letter in letters if not letter.says]
    if words:
        connection.execute(update(outbox).where(outbox.c.id.in_(words)).values(letter="chat"))
    if dropped:
        connection.execute(delete(outbox).where(outbox.c.id.in_(dropped)))


def silence(connection: Connection, reader_ids: Collection[int], userids: Collection[str]) -> None:
    """Remove the words of some players from unsent letters to others.

    Letters that carry nothing else are not sent.
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
    """Return the letters that wait for a player's digest, oldest first."""
    return [QueuedLetter(*row) for row in connection.execute(_TRAY, {"player": player_id})]


def fold(connection: Connection, ids: Sequence[int]) -> None:
    """Note that letters went into a digest."""
    connection.execute(_FOLD, [{"letter_id": i} for i in ids])


NEWEST = 500
"""Newest letters to a player that the headers of a mail may name."""

OF_THE_BOARD = 2
AT_ALL = 5
"""Newest letters, about the board and in all, that a mail may quote although its headers do not
name them: people answer one letter while they read another."""


_NEWEST = (
    select(outbox.c.id, outbox.c.message_id, outbox.c.board_id, outbox.c.letter)
    .where(outbox.c.player_id == bindparam("player"))
    .order_by(outbox.c.id.desc())
    .limit(NEWEST)
)


def answerable(
    connection: Connection,
    player_id: int,
    message_ids: Sequence[str],
    *,
    board_id: int | None,
    letter_id: int | None,
) -> list[QueuedLetter]:
    """Return the letters to a player that a mail may quote, newest first.

    Args:
        message_ids: Message-IDs in the mail's headers, with angle brackets.
        board_id: board that the mail is about; `None` for none.
        letter_id: letter that its reply address names; `None` for none.
    """
    newest = connection.execute(_NEWEST, {"player": player_id}).all()
    wanted = set(message_ids)
    named_ids = {row.id for row in newest if row.message_id in wanted or row.id == letter_id}
    newest = [row for row in newest if not kind_of(row.letter).own_words]
    about = [row.id for row in newest if row.board_id == board_id and board_id is not None]
    chosen = named_ids | set(about[:OF_THE_BOARD]) | {row.id for row in newest[:AT_ALL]}
    letters = [rows.letter(connection, number) for number in sorted(chosen, reverse=True)]
    return [letter for letter in letters if letter is not None]


_WITH_WORDS = (
    select(outbox.c.letter, outbox.c.words, outbox.c.mail_id)
    .where(outbox.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(outbox.c.id)
)


@dataclass(frozen=True, slots=True)
class WordsOfLetter:
    """The words of a letter; `mail_id` is the mail that caused it."""

    letter: str
    words: Mapping[str, Any]
    mail_id: int | None


def about_board(
    connection: Connection, player_id: int, board_id: int, most: int
) -> list[WordsOfLetter]:
    """Return the words of the newest letters to a player about a board, oldest first."""
    newest = connection.execute(_NEWEST, {"player": player_id}).all()
    ids = [row.id for row in newest if row.board_id == board_id][:most]
    return [WordsOfLetter(*row) for row in connection.execute(_WITH_WORDS, {"ids": ids})]


@dataclass(frozen=True, slots=True)
class OldLetter:
    """A letter whose row can shrink."""

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
    """Return letters that were over before a moment and have their octets, oldest first."""
    return list(connection.scalars(_MAILED, {"before": before, "most": most}))


def forget_bytes(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the octets of letters."""
    connection.execute(delete(letter_bytes).where(letter_bytes.c.letter_id.in_(numbers)))


def old(connection: Connection, before: datetime, most: int) -> list[OldLetter]:
    """Return letters that were over before a moment and have their words, oldest first."""
    return [OldLetter(*row) for row in connection.execute(_OLD, {"before": before, "most": most})]


def bare(connection: Connection, letters: Mapping[int, Mapping[str, Any]]) -> None:
    """Remove addresses and words of letters, except the given words by number."""
    connection.execute(_BARE, [{"letter_id": i, "few": dict(few)} for i, few in letters.items()])


def remove(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete letters."""
    connection.execute(delete(outbox).where(outbox.c.id.in_(numbers)))


def stays(letter: OldLetter) -> bool:
    """Return whether a part of a letter's row stays for good."""
    return bool(kind_of(letter.letter).subscription)
