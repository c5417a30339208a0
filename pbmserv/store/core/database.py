"""Opens the database: SQLite is set up here, PostgreSQL in `store.core.postgresql`; and what
becomes of claims when it dies."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from pbmserv.errors import ServerFault
from pbmserv.files import file_of, make_file, why_not

BUSY_TIMEOUT_MS = 30_000
"""How long a write waits for somebody else's, e.g. an operator's command; then it fails, and
the mail it was for is put off (451) instead of being kept waiting without end. PostgreSQL has
more of them, see `store.core.postgresql`."""


_FEW = 4
"""Connections in use, of which there are thrice as many (`_sqlite`)."""

BEGIN_WRITING = "BEGIN IMMEDIATE"
"""How SQLite begins what writes: it never finds out half-way that another process writes."""
SYNC = {True: "FULL", False: "NORMAL"}
"""What SQLite is told (``PRAGMA synchronous``) where a commit waits for the disk, and where not."""


T = TypeVar("T")


def mail_url(url: str) -> str:
    """The store of mails that belongs to a database: a SQLite file beside it, so that door and
    play never wait for each other; on PostgreSQL the same database."""
    path = file_of(url)
    if path is None:
        return url
    return str(make_url(url).set(database=str(path.with_name(f"{path.stem}-mail{path.suffix}"))))


class Database:
    """Engines for one database.

    On SQLite the writing engine begins with BEGIN IMMEDIATE, so that a transaction never
    finds out half-way that another process writes; readers see the last commit (WAL) and
    wait for nobody. On PostgreSQL both are the same engine. Errors quote no parameters: these
    are mails, hidden moves and password hashes, and errors are kept for the operator.

    Attributes:
        patience_ms: how long a write waits for another process's.
    """

    def __init__(self, url: str, pool_size: int = 8) -> None:
        parsed = make_url(url)
        self.url = url
        self.patience_ms = BUSY_TIMEOUT_MS
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        self._kept: deque[Connection] = deque()
        self._is_closed = False
        if self.is_sqlite:
            path = file_of(url)
            if path is not None:
                make_file(path)
            self.writing = _sqlite(url, BEGIN_WRITING, 2, cache_kb=1_000)
            self.reading = _sqlite(url, "BEGIN", pool_size, cache_kb=400)
        else:
            from pbmserv.store.core.postgresql import open_engine  # with SQLite no driver is loaded

            self.writing = self.reading = open_engine(url, pool_size, BUSY_TIMEOUT_MS)

    @property
    def reads_at_once(self) -> bool:
        """Whether a row can be read where other tasks wait: on SQLite that takes less time than to
        have a thread do it, and waits for nobody as long as there are connections to spare."""
        pool = self.reading.pool
        return self.is_sqlite and isinstance(pool, QueuePool) and pool.checkedout() < _FEW

    def looking(self) -> Connection:
        """A connection to SQLite that is kept, for who looks again and again: each statement sees
        what is committed by then, and is a transaction by itself. A connection of the pool and a
        transaction for each look take several times as long as the look."""
        connection = self.reading.connect()
        connection.begin()  # for SQLAlchemy it lasts as long as the connection
        at_driver("COMMIT", connection)
        return connection

    @contextlib.contextmanager
    def one_state(self) -> Iterator[Connection]:
        """A connection that sees one state of the database all the while. On SQLite it is kept for
        the next time, as `looking` is: to begin anew takes as long as to read twenty rows."""
        if not self.is_sqlite:
            with self.reading.connect() as connection:
                yield connection
            return
        try:
            connection = self._kept.pop()
        except IndexError:
            connection = self.looking()
        try:
            at_driver("BEGIN", connection)
            yield connection
            at_driver("COMMIT", connection)
        except BaseException:
            connection.close()
            raise
        self._kept.append(connection)
        if self._is_closed:
            self._let_go_kept()

    def let_go(self) -> None:
        """Close every connection; whoever asks for one has it opened anew."""
        self._let_go_kept()
        for engine in {self.writing, self.reading}:
            engine.dispose()

    def close(self) -> None:
        """Close every pooled connection; one that somebody still uses closes when it comes back."""
        for engine in {self.writing, self.reading}:
            event.listen(engine, "checkin", _close_returned)
            engine.dispose()
        self._is_closed = True
        self._let_go_kept()

    def _let_go_kept(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._kept.pop().close()


def _close_returned(_connection: Any, record: ConnectionPoolEntry) -> None:
    """A pool that was disposed of would keep it open until it is collected as garbage."""
    record.close()


def _sqlite(url: str, begin: str, pool_size: int, cache_kb: int) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=4,
        pool_use_lifo=True,  # the one whose pages are in memory; others stay small
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )

    @event.listens_for(engine, "connect")
    def configure(dbapi_connection: Any, _record: Any) -> None:
        # The driver's own transaction control would commit behind our back; ours is explicit.
        dbapi_connection.isolation_level = None
        if not dbapi_connection.execute("PRAGMA page_count").fetchone()[0]:
            # Only a database without any page can be told so: it gives room back step by step.
            dbapi_connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        _use_wal(dbapi_connection)
        for pragma in (
            f"synchronous={SYNC[True]}",
            "journal_size_limit=67108864",  # a log that a long reader made grow shrinks again
            "foreign_keys=ON",
            f"cache_size=-{cache_kb}",  # each connection fills its own; the kernel has the file
            "temp_store=MEMORY",
        ):
            dbapi_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        at_driver(begin, connection)

    return engine


def at_driver(statement: str, connection: Connection) -> None:
    """Have the driver begin or end a transaction or a savepoint; its errors are SQLAlchemy's."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(statement)
        return
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute(statement)
    except sqlite3.Error as error:
        raise wrapped(statement, error) from error


def wrapped(statement: str, error: sqlite3.Error) -> BaseException:
    """The error that SQLAlchemy would have raised of the driver's; it quotes no parameters."""
    return DBAPIError.instance(statement, None, error, sqlite3.Error, hide_parameters=True)


def cause_of(fault: Exception) -> Exception:
    """Why a group failed: when its disk is full, SQLite rolls back by itself, and all that is said
    then is that there is no such savepoint."""
    before = fault.__context__
    return before if isinstance(before, DBAPIError) else fault


def gave_way(error: DBAPIError) -> bool:
    """Whether PostgreSQL rolled this back in favour of another (40001, 40P01), or hung up."""
    state = getattr(error.orig, "sqlstate", None)
    return state in {"40001", "40P01"} or error.connection_invalidated


def handed_on(error: BaseException) -> Exception:
    """What the submitter gets: a job that wants to end the whole process ends only itself."""
    if isinstance(error, Exception):
        return error
    fault = ServerFault(f"a job ended with {type(error).__name__}")
    fault.__cause__ = error
    return fault


def _use_wal(dbapi_connection: Any) -> None:
    """Switch to WAL; SQLite does not wait for another process that does the same just now."""
    end = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            dbapi_connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def words_of(error: BaseException) -> str | None:
    """The driver's own words, without statement and values, if the database is what fails.

    A statement that is wrong in itself is our fault, and its traceback belongs into a report.
    """
    return told(error) if isinstance(error, (InternalError, OperationalError)) else None


def told(error: BaseException) -> str:
    """What a driver or the system says, on a line without statement and values; and what helps
    where SQLite may not write."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {why_not(error)}"
    found = error.orig if isinstance(error, DBAPIError) else error
    line = str(found).strip().partition("\n")[0]
    if getattr(found, "sqlite_errorname", "").startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        line += (
            "; run this as the server's user, who has to own the file and its folder (chown), "
            "and mount their disk for writing: SQLite writes to look, too"
        )
    return line
