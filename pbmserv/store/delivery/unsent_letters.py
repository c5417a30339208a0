"""Rows of letters that are not sent yet: in the queue, and in digests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.store.delivery.outbox import COLUMNS, IS_ROW, QueuedLetter, key_of
from pbmserv.store.tables.mail import UNSENT, LetterState, outbox

_ABOUT = (
    select(
        outbox.c.id,
        outbox.c.player_id,
        or_(outbox.c.attempts > 0, outbox.c.claimed_by.is_not(None)).label("begun"),
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
        begun: whether a sender has tried it or had it in hand, so that it may have been read.
        has_words: whether it carries words of another player.
    """

    id: int
    player_id: int | None
    begun: bool
    has_words: bool


def about(connection: Connection, board_id: int, after: int) -> list[Unsent]:
    """Return the letters that show a ply after *after*, and lock them against senders."""
    rows = connection.execute(_ABOUT, {"board": board_id, "after": after})
    return [Unsent(row.id, row.player_id, row.begun, bool(row.words.get("said"))) for row in rows]


def drop(connection: Connection, letters: Collection[Unsent]) -> None:
    """Drop letters; of those that carry words of a player, keep only the words."""
    with_words = [letter.id for letter in letters if letter.has_words]
    dropped = [letter.id for letter in letters if not letter.has_words]
    if with_words:
        connection.execute(update(outbox).where(outbox.c.id.in_(with_words)).values(letter="chat"))
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
        values: dict[str, Any] = {"words": words}
        if kind_of(row.letter).only_words:
            why = "its reader blocks the writer"
            values |= {"state": LetterState.FAILED, "due_at": None, "error": why}
        connection.execute(update(outbox).where(outbox.c.id == row.id).values(values))


def _silenced(words: Any, userids: Collection[str]) -> Any:
    """Return the words of a letter, or a value in them, without what these players say."""
    match words:
        case dict():
            values = {key: _silenced(value, userids) for key, value in words.items()}
            if "said" in values and values.get("by") in userids:
                values["said"] = ""
            return values
        case list() | tuple():
            return [_silenced(value, userids) for value in words]
        case _:
            return words


def hand_on(
    connection: Connection,
    old: int,
    new: int,
    address: str,
    again: Collection[int],
    now: datetime,
) -> None:
    """Give one player's unsent letters to another, as far as they tell what others did or said.

    Letters that a sender has in hand stay as they are.

    Args:
        again: boards that are sent again. Of letters about them, only the words of other players
            are kept.
    """
    is_free = outbox.c.claimed_by.is_(None)
    rows = connection.execute(
        select(
            outbox.c.id, outbox.c.letter, outbox.c.board_id, outbox.c.state, outbox.c.words
        ).where(outbox.c.player_id == old, outbox.c.state.in_(UNSENT), is_free)
    ).all()
    for row in rows:
        kind = kind_of(row.letter)
        is_kept = kind.can_wait or kind.tells_turn or kind.reaches_others or kind.has_entries
        values: dict[str, Any] = {"player_id": new, "recipient": address}
        if row.state == LetterState.COMING:
            is_kept = True
        elif row.board_id in again and not kind.only_words:
            is_kept = bool(row.words.get("said")) and not kind.own_words
            values["letter"] = "chat"
        if row.state not in {LetterState.HELD, LetterState.COMING}:
            values |= {"state": LetterState.QUEUED, "due_at": now}
        if is_kept:
            is_row = outbox.c.id == row.id
            connection.execute(update(outbox).where(is_row, is_free).values(values))


_FOR_DIGEST = (
    select(*COLUMNS)
    .where(outbox.c.player_id == bindparam("player"), outbox.c.state == LetterState.DIGEST)
    .order_by(outbox.c.id)
)
_FOLD = update(outbox).where(IS_ROW).values(state=LetterState.FOLDED)


def for_digest(connection: Connection, player_id: int) -> list[QueuedLetter]:
    """Return the letters that wait for a player's digest, oldest first."""
    return [QueuedLetter(*row) for row in connection.execute(_FOR_DIGEST, {"player": player_id})]


def mark_folded(connection: Connection, ids: Sequence[int]) -> None:
    """Note that letters went into a digest."""
    connection.execute(_FOLD, [key_of(connection, i) for i in ids])


def release_tray(connection: Connection, player_id: int, now: datetime) -> None:
    """Queue the letters that wait for a digest: the player will get none."""
    connection.execute(
        update(outbox)
        .where(outbox.c.player_id == player_id, outbox.c.state == LetterState.DIGEST)
        .values(state=LetterState.QUEUED, due_at=now)
    )
