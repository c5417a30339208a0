"""Letters about a board that nobody has been sent yet, and that can still be dropped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, exists, select, update

from pbmserv.store.tables import letter_bytes, outbox

_UNSENT = (
    select(
        outbox.c.id,
        outbox.c.player_id,
        exists().where(letter_bytes.c.letter_id == outbox.c.id).label("made"),
        outbox.c.due_at,
        outbox.c.words,
    )
    .where(
        outbox.c.state.in_(("queued", "tray")),  # partial indexes keep these at hand
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


def about(connection: Connection, board_id: int, after: int, now: datetime) -> list[Unsent]:
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


def drop(connection: Connection, letters: Collection[Unsent]) -> None:
    """Drop these letters; where a person's words are in one, only the words are sent."""
    words = [letter.id for letter in letters if letter.says]
    gone = [letter.id for letter in letters if not letter.says]
    if words:
        connection.execute(update(outbox).where(outbox.c.id.in_(words)).values(letter="chat"))
    if gone:
        connection.execute(delete(outbox).where(outbox.c.id.in_(gone)))
