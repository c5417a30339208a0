"""What waits in the database and since when, how large it is, whether it can be written to, and
how it gives room back to the disk, beside a server that goes on taking mail.

Every question is answered by an index: whoever asks once a second must not slow mail down.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Executable,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
)

from pbmserv.errors import OperatorError
from pbmserv.files import file_of
from pbmserv.store.clocks import heartbeat
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.arrivals import PROBE, PROBE_OCTETS
from pbmserv.store.tables import boards
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import house_turns
from pbmserv.store.tables.mail import LetterState, MailState, inbox, outbox

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
LOOKS: Mapping[str, Executable] = {
    "states": _STATES,
    "due": _DUE,
    "first": _FIRST,
    "kept": _KEPT_COUNT,
    "received": _RECEIVED,
    "house": _HOUSE,
    "clocks": _CLOCKS,
    "digests": _DIGESTS,
}
"""Every statement that `queues` asks, by name."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Things that wait: how many, and for how many seconds the first of them has."""

    count: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Queues:
    """What waits.

    Attributes:
        mails: those that are taken in and not carried out.
        kept: mails that wait for the operator.
        due: letters that are due; the age is since they were.
        queued: letters in the queue, due or not; the age is since they were written.
        letters: other letters that have not gone out, by state.
        house: boards on which the house is to move.
        clocks: boards whose clocks are behind.
        digests: players whose one mail a day is due.
        newest_mail, newest_letter: their numbers; how many there were only as long as no copy of
            the database was put back, which leaves numbers out.
        beat_s: seconds since any process of the server was heard of, negative where a clock is
            wrong; ``None``: never.
        up_since: since when one is heard of without a break.
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


def queues(mail: Connection | None, connection: Connection, now: datetime) -> Queues:
    """What waits now.

    Args:
        mail: to the store of mails; ``None``: it is not there yet.
        connection: to that of games.
    """
    arrived, oldest = (0, None) if mail is None else arrivals.waiting(mail)
    states: dict[str, int] = {row.state: row.letters for row in connection.execute(_STATES)}
    queued = states.pop(LetterState.QUEUED, 0)
    first: datetime | None = connection.execute(_FIRST).scalar()
    kept, mail = connection.execute(_KEPT_COUNT).one()
    received = connection.execute(_RECEIVED, {"mail": mail}).scalar() if kept else None
    beat = heartbeat(connection)
    return Queues(
        mails=Waiting(arrived, _age(oldest, now)),
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
    )


def under_way(mail: Connection, game: Connection, address: str, now: datetime, last: int) -> bool:
    """Whether mails up to that number are still to be carried out, or a letter to *address* is made
    or sent just now; one that is tried again later is not waited for."""
    waiting = [number for number in arrivals.numbers(mail) if number <= last]
    if waiting:
        done = arrivals.settled_since(game, arrivals.store_of(mail), waiting[0])
        if not done.issuperset(waiting):
            return True
    found = select(outbox.c.id).where(
        func.lower(outbox.c.recipient) == address.lower(),
        or_(
            and_(outbox.c.state == LetterState.QUEUED, outbox.c.due_at <= now),
            and_(outbox.c.state == LetterState.QUEUED, outbox.c.claimed_by.is_not(None)),
            outbox.c.state == LetterState.COMING,
        ),
    )
    return game.execute(found.limit(1)).first() is not None


def write(connection: Connection, now: datetime) -> None:
    """Write as much as a mail does, and take it back: whoever commits this has waited for the
    disk. No number is used up."""
    connection.execute(
        insert(inbox).values(
            id=PROBE,
            digest="probe",
            recipient="",
            sender="",
            peer="",
            raw=secrets.token_bytes(PROBE_OCTETS),  # that cannot be packed
            state=MailState.DONE,
            received_at=now,
        )
    )
    connection.execute(delete(inbox).where(inbox.c.id == PROBE))


def sizes(game: Database) -> dict[str, int]:
    """Octets of the database and, on SQLite, of its write-ahead log and of the store of mails."""
    if game.is_sqlite:
        files = {"": file_of(game.url), "mail_": file_of(mail_url(game.url))}
        return {
            f"{whose}{what}": _size(path)
            for whose, file in files.items()
            if file is not None
            for what, path in (("database", file), ("wal", _wal(file)))
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


def _waiting(connection: Connection, asked: Executable, now: datetime) -> Waiting:
    count, oldest = connection.execute(asked, {"now": now}).one()
    return Waiting(count, _age(oldest, now))


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())


STEP_PAGES = 500
"""Pages that are given back in one transaction: some tens of milliseconds."""

PAUSE_S = 0.15
"""Between two of them. SQLite's waiting is no queue: a writer that waits looks again at most every
100 ms, and gets its turn only if nobody else writes just then."""

QUICK = 300_000_000
"""Octets that are rebuilt in a few seconds, well within what a writer waits for another's."""


@dataclass(frozen=True, slots=True)
class Room:
    """Octets that a database takes, and how many of them hold nothing (PostgreSQL: unknown, 0)."""

    total: int
    free: int

    def __str__(self) -> str:
        free = f", {self.free / 1e6:,.1f} MB of it free" if self.free else ""
        return f"{self.total / 1e6:,.1f} MB{free}"


def room(database: Database) -> Room:
    """What the database takes on the disk, without SQLite's log."""
    with database.reading.connect() as connection:
        if not database.is_sqlite:
            query = text("SELECT pg_database_size(current_database())")
            return Room(connection.execute(query).scalar_one(), 0)
        size = _pragma(connection, "page_size")
        pages, free = _pragma(connection, "page_count"), _pragma(connection, "freelist_count")
        return Room(pages * size, free * size)


def compact(database: Database, pause: Callable[[float], None]) -> None:
    """Give back what is free. Mail that comes meanwhile waits for some milliseconds.

    A SQLite database that an older version made cannot give room back step by step; if it is
    small it is rebuilt, and from then on it can.

    Args:
        pause: waits so many seconds.

    Raises:
        OperatorError: it is such a database and not small.
    """
    if not database.is_sqlite:
        _on_its_own(database, "VACUUM ANALYZE")
        return
    with database.reading.connect() as connection:
        gradual = _pragma(connection, "auto_vacuum") == 2
    if gradual:
        _step_by_step(database, pause)
        return
    found = room(database)
    if found.total - found.free > QUICK:
        raise OperatorError(
            "an older version made this database, which can only be rebuilt as a whole, and mail "
            "would wait too long for that; stop the server, then run: pbmserv db compact --rebuild"
        )
    rebuild(database)


def rebuild(database: Database) -> None:
    """Write the database anew; nobody else can write until that is done (PostgreSQL: nor read)."""
    if not database.is_sqlite:
        _on_its_own(database, "VACUUM FULL ANALYZE")
        return
    # What VACUUM writes on its way is as large as the database: not into the memory.
    _on_its_own(database, "PRAGMA temp_store=FILE", "PRAGMA auto_vacuum=INCREMENTAL", "VACUUM")
    _shorten_log(database)


def _step_by_step(database: Database, pause: Callable[[float], None]) -> None:
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        pages = driver.execute("PRAGMA freelist_count").fetchone()[0]
        for _ in range(0, pages, STEP_PAGES):  # not what is dropped meanwhile: that has no end
            driver.executescript(f"PRAGMA incremental_vacuum({STEP_PAGES})")
            pause(PAUSE_S)
    _shorten_log(database)


def _shorten_log(database: Database) -> None:
    """Bring what SQLite's log holds into the file, if no reader is in the way just now."""
    with database.writing.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.execute("PRAGMA busy_timeout=1000")
        try:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError:  # the next commit of whoever is busy does it
            driver.rollback()
        connection.detach()


def _on_its_own(database: Database, *statements: str) -> None:
    """Execute statements that no transaction may hold."""
    with database.writing.connect() as connection:
        if database.is_sqlite:
            driver: Any = connection.connection.dbapi_connection
            for statement in statements:
                driver.execute(statement)
            connection.detach()  # its settings are nobody else's
            return
        own = connection.execution_options(isolation_level="AUTOCOMMIT")
        for statement in statements:
            own.execute(text(statement))


def _pragma(connection: Connection, name: str) -> int:
    found: int = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
    return found
