"""The queues of a server, its sizes, and a probe that the database can be written.

An index answers every question, so that checks once a second do not slow mail down.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import (
    Connection,
    Executable,
    Table,
    bindparam,
    func,
    insert,
    select,
    text,
)

from pbmserv.files import sqlite_file
from pbmserv.store.boards import game_pauses
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.core.statements import delete_rows
from pbmserv.store.delivery import arrivals as arrival_rows
from pbmserv.store.delivery import inbox as inbox_rows
from pbmserv.store.heartbeats import heartbeat
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.bots import house_turns
from pbmserv.store.tables.mail import LetterState, MailState, arrivals, inbox, outbox

PROBE = -1
"""Number of a probe, a row that is written and deleted in one transaction."""
PROBE_OCTETS = 8_192
"""Size of a probe: it needs new pages, which a full disk does not have."""

_QUEUED = text("outbox.state = 'queued'")  # as the partial index has it
_KEPT = text("inbox.state = 'kept'")
_STATES = (
    select(outbox.c.state, func.count().label("letters"))
    .where(text("state <> 'sent' AND state <> 'folded'"))
    .group_by(outbox.c.state)
)
_DUE = select(func.count(), func.min(outbox.c.due_at)).where(
    _QUEUED, outbox.c.due_at <= bindparam("now")
)
_FIRST = select(outbox.c.created_at).where(
    outbox.c.id
    == select(func.min(outbox.c.id))
    .where(_QUEUED, text("state <> 'sent' AND state <> 'folded'"))
    .scalar_subquery()
)
_KEPT_COUNT = select(func.count(), func.min(inbox.c.id)).where(_KEPT)
_RECEIVED = select(inbox.c.received_at).where(inbox.c.id == bindparam("mail"))
_HOUSE = select(func.count(), func.min(house_turns.c.due_at)).where(
    house_turns.c.due_at <= bindparam("now")
)
_CLOCKS = select(func.count(), func.min(boards.c.due_at)).where(boards.c.due_at <= bindparam("now"))
_DIGESTS = select(func.count(), func.min(players.c.digest_due)).where(
    players.c.digest_due <= bindparam("now")
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The length of a queue, and the age of its first entry in seconds."""

    count: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Away:
    """A game that cannot be played.

    Attributes:
        kind: ``stopped`` or ``gone``.
        why: for the operator.
        since_s: seconds since it cannot.
        boards: number of its running boards.
    """

    game: str
    kind: str
    why: str
    since_s: float
    boards: int


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues of a server.

    Attributes:
        mails: accepted mails that are not carried out.
        kept: mails that wait for the operator.
        due: letters that are due; the age counts from their due time.
        queued: letters in the queue, due or not; the age counts from their creation.
        letters: number of other unsent letters by state.
        house: boards on which a bot is to move.
        clocks: boards whose clocks must be checked.
        digests: players whose digest is due.
        newest_mail, newest_letter: their numbers. On SQLite they are also counts, unless a copy of
            the database was restored, which skips numbers.
        beat_s: seconds since the last heartbeat of the server, negative if a clock is wrong; `None`
            if there was none.
        paused: mails that wait until their games can be played.
        away: games that cannot be played.
        up_since: time since which there were heartbeats without interruption.
    """

    mails: Waiting
    kept: Waiting
    due: Waiting
    queued: Waiting
    letters: Mapping[str, int]
    house: Waiting
    clocks: Waiting
    digests: Waiting
    newest_mail: int
    newest_letter: int
    beat_s: float | None
    up_since: datetime | None
    paused: Waiting = Waiting(0, 0.0)
    away: tuple[Away, ...] = ()


def queues(mail: Connection | None, connection: Connection, now: datetime) -> Queues:
    """Return the current queues.

    Args:
        mail: connection to the mail store; `None` if that does not exist yet.
        connection: connection to the game store.
    """
    mails, oldest = (0, None) if mail is None else arrival_rows.waiting(mail)
    states: dict[str, int] = {row.state: row.letters for row in connection.execute(_STATES)}
    queued = states.pop(LetterState.QUEUED, 0)
    first: datetime | None = connection.execute(_FIRST).scalar()
    kept, first_mail = connection.execute(_KEPT_COUNT).one()
    received = connection.execute(_RECEIVED, {"mail": first_mail}).scalar() if kept else None
    beat = heartbeat(connection)
    waiting_mails, first_paused = inbox_rows.count_paused(connection)
    return Queues(
        mails=Waiting(mails, _age(oldest, now)),
        kept=Waiting(kept, _age(received, now)),
        due=_waiting(connection, _DUE, now),
        queued=Waiting(queued, _age(first, now)),
        letters=states,
        house=_waiting(connection, _HOUSE, now),
        clocks=_waiting(connection, _CLOCKS, now),
        digests=_waiting(connection, _DIGESTS, now),
        newest_mail=connection.execute(select(func.max(inbox.c.id))).scalar() or 0,
        newest_letter=connection.execute(select(func.max(outbox.c.id))).scalar() or 0,
        beat_s=None if beat is None else (now - beat.beat_at).total_seconds(),
        up_since=None if beat is None else beat.up_since,
        paused=Waiting(waiting_mails, _age(first_paused, now)),
        away=_away(connection, now),
    )


def _away(connection: Connection, now: datetime) -> tuple[Away, ...]:
    pauses = game_pauses.present(connection)
    if not pauses:
        return ()
    counts = game_pauses.count_boards(connection, {pause.game for pause in pauses})
    return tuple(
        Away(p.game, p.kind, p.why, _age(p.begins, now), counts.get(p.game, 0)) for p in pauses
    )


def probe_game_store(connection: Connection, now: datetime) -> None:
    """Write and delete a mail; after the commit the disk of the game store has taken it."""
    _write_and_delete(connection, inbox, digest="probe", state=MailState.DONE, received_at=now)


def probe_mail_store(connection: Connection, now: datetime) -> None:
    """Write and delete an arrival; after the commit the disk of the mail store has taken it."""
    values = {"kind": "mail", "hello": "", "lane": "", "received_at": now}
    _write_and_delete(connection, arrivals, **values)


def _write_and_delete(connection: Connection, table: Table, **values: object) -> None:
    raw = secrets.token_bytes(PROBE_OCTETS)  # random, so that it does not compress
    probe = {"id": PROBE, "recipient": "", "sender": "", "peer": "", "raw": raw, **values}
    connection.execute(insert(table).values(probe))
    delete_rows(connection, table, id=PROBE)


def sizes(game: Database) -> dict[str, int]:
    """Return the octets of the database and, on SQLite, of the logs and the mail store."""
    if game.is_sqlite:
        files = {"": sqlite_file(game.url), "mail_": sqlite_file(mail_url(game.url))}
        return {
            f"{store}{part}": _size(path)
            for store, file in files.items()
            if file is not None
            for part, path in (("database", file), ("wal", _wal(file)))
        }
    with game.reading.connect() as connection:
        size = connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar()
    return {"database": int(size or 0)}


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _waiting(connection: Connection, statement: Executable, now: datetime) -> Waiting:
    count, oldest = connection.execute(statement, {"now": now}).one()
    return Waiting(count, _age(oldest, now))


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
