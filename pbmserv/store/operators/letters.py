"""Letters as operators list and change them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, not_, select, update

from pbmserv.store.core.statements import columns_of, first_row
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.mail import LetterState, outbox

DROPPED = "dropped: "
"""Beginning of the error of a letter that an operator has dropped."""


@dataclass(frozen=True, slots=True)
class LetterLine:
    """A letter in a list.

    Attributes:
        game: of its board, if it is about one.
    """

    id: int
    letter: str
    recipient: str
    player_id: int | None
    board_id: int | None
    state: LetterState
    attempts: int
    due_at: datetime | None
    error: str
    game: str | None

    @property
    def about(self) -> str:
        """Board and game, ``""`` if the letter is not about a board."""
        return "" if self.board_id is None else f"{self.board_id} ({self.game})"


_GAME = select(boards.c.game).where(boards.c.id == outbox.c.board_id)
_LINE = select(
    *columns_of(
        LetterLine,
        outbox,
        game=_GAME.scalar_subquery(),
    )
)


def letter_lines(
    connection: Connection, states: tuple[str, ...], recipient: str, most: int
) -> list[LetterLine]:
    """Return letters in these states, newest first.

    Args:
        recipient: part of the address, in lower case; ``""`` for all.
    """
    statement = _LINE.where(outbox.c.state.in_(states)).order_by(outbox.c.id.desc()).limit(most)
    if recipient:
        statement = statement.where(outbox.c.recipient.contains(recipient, autoescape=True))
    return [LetterLine(*row) for row in connection.execute(statement)]


def failed_letters(connection: Connection, since: datetime | None) -> list[int]:
    """Return the numbers of failed letters, oldest first.

    Letters that an operator has dropped are left out, and letters of which a newer copy exists.

    Args:
        since: leave out letters that were queued earlier (`None`: include all).
    """
    statement = select(outbox.c.id, outbox.c.message_id).where(
        outbox.c.state == LetterState.FAILED,
        outbox.c.recipient != "",
        not_(outbox.c.error.startswith(DROPPED)),
    )
    if since is not None:
        statement = statement.where(outbox.c.created_at >= since)
    failed = connection.execute(statement.order_by(outbox.c.id)).all()
    newest = connection.execute(
        select(outbox.c.message_id, func.max(outbox.c.id).label("id"))
        .where(outbox.c.message_id.in_({row.message_id for row in failed}))
        .group_by(outbox.c.message_id)
    )
    newest_ids = {row.id for row in newest}
    return [row.id for row in failed if row.id in newest_ids]


def flush(connection: Connection, now: datetime) -> int:
    """Make letters due that wait for another attempt after a fault; return their number.

    A copy of a letter that came back has not failed yet, so it keeps its day.
    """
    waits = update(outbox).where(
        outbox.c.state == LetterState.QUEUED,
        outbox.c.claimed_by.is_(None),
        outbox.c.due_at > now,
        outbox.c.error != "",
    )
    return connection.execute(waits.values(due_at=now)).rowcount


def lock_letter(connection: Connection, letter_id: int) -> LetterLine | None:
    """Return a letter and lock its row until the end of the transaction."""
    statement = _LINE.where(outbox.c.id == letter_id).with_for_update()
    return first_row(connection, LetterLine, statement)


def set_state(
    connection: Connection, letter_id: int, state: str, due_at: datetime | None, error: str
) -> None:
    """Change the state of a letter; a sender that has claimed it loses the claim."""
    connection.execute(
        update(outbox)
        .where(outbox.c.id == letter_id)
        .values(state=state, due_at=due_at, error=error, claimed_by=None)
    )
