"""Rows of operators' announcements to all players, and of how far their letters have come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from pbmserv.mail.letter_kinds import letters_that
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import (
    add_numbered_row,
    change_rows,
    columns_of,
    count_rows,
    first_row,
)
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.mail import LetterState, outbox
from pbmserv.store.tables.operators import announcements


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announcement.

    Attributes:
        is_service: it goes to players who want no announcements, too.
        last_player: largest id of the players who get it.
        reached: id of the last player who was considered; 0 before the first.
        sent: number of letters that are queued.
        finished_at: when all letters were queued, or when it was stopped; `None` while it runs.
    """

    id: int
    title: str
    text: str
    is_service: bool
    created_at: datetime
    last_player: int
    reached: int
    sent: int
    finished_at: datetime | None

    @property
    def is_stopped(self) -> bool:
        """Whether an operator stopped it before all letters were queued."""
        return self.finished_at is not None and self.reached < self.last_player


_ANNOUNCEMENT = select(*columns_of(Announcement, announcements))


def by_digest(connection: Connection, digest: str) -> Announcement | None:
    """Return the announcement with this digest of title and text."""
    statement = _ANNOUNCEMENT.where(announcements.c.digest == digest)
    return first_row(connection, Announcement, statement)


def add(
    connection: Connection, digest: str, title: str, text: str, now: datetime, *, is_service: bool
) -> int:
    """Add an announcement to all players of this moment; return its id."""
    last_player = connection.execute(select(func.max(players.c.id))).scalar() or 0
    return add_numbered_row(
        connection,
        announcements,
        digest=digest,
        title=title,
        text=text,
        is_service=is_service,
        created_at=now,
        last_player=last_player,
        reached=0,
        sent=0,
    )


def count_readers(connection: Connection, *, is_service: bool) -> int:
    """Return the number of players who would get an announcement now."""
    which = [players.c.state == PlayerState.ACTIVE]
    if not is_service:
        which.append(players.c.announcements)
    return count_rows(connection, players, *which)


def newest(connection: Connection, most: int) -> list[Announcement]:
    """Return announcements, newest first."""
    rows = connection.execute(_ANNOUNCEMENT.order_by(announcements.c.id.desc()).limit(most))
    return [Announcement(*row) for row in rows]


def lock(connection: Connection, number: int) -> Announcement | None:
    """Return an announcement and lock its row."""
    statement = _ANNOUNCEMENT.where(announcements.c.id == number).with_for_update()
    return first_row(connection, Announcement, statement)


def set_finished(connection: Connection, number: int, at: datetime | None) -> None:
    """Stop an announcement, or let it go on (`None`)."""
    change_rows(connection, announcements, {"id": number}, finished_at=at)


def letters_of(connection: Connection, announcement: Announcement, state: LetterState) -> list[int]:
    """Return the letters of an announcement that are in a state and in no sender's hand."""
    kinds = letters_that(lambda kind: kind.for_many)
    rows = connection.execute(
        select(outbox.c.id, outbox.c.words)
        .where(
            outbox.c.state == state,
            outbox.c.letter.in_(kinds),
            outbox.c.created_at >= announcement.created_at,
            outbox.c.claimed_by.is_(None),
        )
        .order_by(outbox.c.id)
        .with_for_update(skip_locked=True)
    )
    words = {"title": announcement.title, "text": announcement.text}
    return [row.id for row in rows if words.items() <= row.words.items()]


def first_unfinished(connection: Connection) -> int | None:
    """Return the id of the oldest announcement whose letters are not all queued."""
    statement = select(announcements.c.id).where(announcements.c.finished_at.is_(None))
    return connection.execute(statement.order_by(announcements.c.id).limit(1)).scalar()


def next_players(connection: Connection, announcement: Announcement, most: int) -> list[Player]:
    """Return the next active players after those that were reached, in the order of their ids."""
    ids = connection.execute(
        select(players.c.id)
        .where(
            players.c.id > announcement.reached,
            players.c.id <= announcement.last_player,
            players.c.state == PlayerState.ACTIVE,
        )
        .order_by(players.c.id)
        .limit(most)
    ).scalars()
    return player_rows.listed(connection, players.c.id.in_(list(ids)))


def note_progress(
    connection: Connection, number: int, reached: int, letters: int, finished_at: datetime | None
) -> None:
    """Note how far an announcement has come, in the transaction that queued its letters."""
    connection.execute(
        update(announcements)
        .where(announcements.c.id == number)
        .values(reached=reached, sent=announcements.c.sent + letters, finished_at=finished_at)
    )
