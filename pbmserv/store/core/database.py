"""Opens a database, and explains its errors; `store.core.postgresql` sets up PostgreSQL."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from pbmserv.files import make_file, sqlite_file, why_not

POOL_SIZE = 8
"""Idle connections that are kept for readers; on PostgreSQL writers use them, too."""

BUSY_TIMEOUT_MS = 30_000
"""Milliseconds that a write waits for another process, such as an operator's command. Then it
fails, and its mail is put off (451). `store.core.postgresql` has more timeouts."""

SYNCHRONOUS = "FULL"
"""SQLite's ``PRAGMA synchronous``: a commit returns when it is on disk."""


def mail_url(url: str) -> str:
    """Return the URL of the mail store.

    It is a second SQLite file, so that door and play never wait for each other; on PostgreSQL it is
    the same database.
    """
    path = sqlite_file(url)
    if path is None:
        return url
    return str(make_url(url).set(database=str(path.with_name(f"{path.stem}-mail{path.suffix}"))))


class Database:
    """The engines of one database.

    On SQLite the writing engine begins with BEGIN IMMEDIATE, so that a transaction never finds out
    in the middle that another process writes; readers see the last commit (WAL) and do not wait.
    On PostgreSQL both engines are the same. Errors are stored for the operator, so they do not
    quote parameters, which may be mails, hidden moves and password hashes.

    Attributes:
        application: name of new connections in ``pg_stat_activity``.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.url = url
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        self.application = "pbmserv"
        self._is_closed = False
        if self.is_sqlite:
            path = sqlite_file(url)
            if path is not None:
                make_file(path)
            self.writing = _sqlite(url, "BEGIN IMMEDIATE", 2, cache_kb=1_000)
            self.reading = _sqlite(url, "BEGIN", POOL_SIZE, cache_kb=400)
        else:
            from pbmserv.store.core.postgresql import open_engine  # loads the driver

            self.writing = self.reading = open_engine(
                url, POOL_SIZE, BUSY_TIMEOUT_MS, lambda: self.application
            )
        self._kept = {engine: deque[Connection]() for engine in (self.writing, self.reading)}

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database."""
        if self.is_sqlite:
            with self._kept_transaction(self.reading, "BEGIN") as connection:
                yield connection
        else:
            with self.reading.connect() as connection:
                yield connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield the connection of a transaction that may write; it ends with a commit, or after an
        error with a rollback."""
        if self.is_sqlite:
            with self._kept_transaction(self.writing, "BEGIN IMMEDIATE") as connection:
                yield connection
        else:
            with self.writing.begin() as connection:
                yield connection

    @contextlib.contextmanager
    def _kept_transaction(self, engine: Engine, begin: str) -> Iterator[Connection]:
        """Yield the connection of a SQLite transaction, and keep it for the next one.

        Taking one from the pool takes as long as reading twenty rows.
        """
        kept = self._kept[engine]
        try:
            connection = kept.pop()
        except IndexError:
            connection = _without_transactions(engine)
        try:
            at_driver(begin, connection)
            yield connection
            at_driver("COMMIT", connection)
        except BaseException:
            connection.close()
            raise
        kept.append(connection)
        if self._is_closed:
            self._close_kept()

    def disconnect(self) -> None:
        """Close every connection; later uses open new ones."""
        self._close_kept()
        for engine in {self.writing, self.reading}:
            engine.dispose()

    def close(self) -> None:
        """Close every pooled connection; a used one closes when it is returned."""
        for engine in {self.writing, self.reading}:
            event.listen(engine, "checkin", _close_returned)
            engine.dispose()
        self._is_closed = True
        self._close_kept()

    def _close_kept(self) -> None:
        for kept in self._kept.values():
            with contextlib.suppress(IndexError):
                while True:
                    kept.pop().close()


def _without_transactions(engine: Engine) -> Connection:
    """Return a connection to SQLite on which SQLAlchemy begins no transaction."""
    connection = engine.connect()
    try:
        connection.begin()  # SQLAlchemy's idea of a transaction lasts as long as the connection
        at_driver("COMMIT", connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _close_returned(_connection: Any, record: ConnectionPoolEntry) -> None:
    """Close a connection that a disposed pool would keep open until garbage collection."""
    record.close()


def _sqlite(url: str, begin: str, pool_size: int, cache_kb: int) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=4,
        pool_use_lifo=True,  # reuse the connection that has pages in memory
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )

    @event.listens_for(engine, "connect")
    def configure(dbapi_connection: Any, _record: Any) -> None:
        # The driver must not begin and commit transactions itself.
        dbapi_connection.isolation_level = None
        if not dbapi_connection.execute("PRAGMA page_count").fetchone()[0]:
            # Give room back in steps; only a database without pages can be set to that.
            dbapi_connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        _use_wal(dbapi_connection)
        for pragma in (
            f"synchronous={SYNCHRONOUS}",
            "journal_size_limit=67108864",  # shrink a log that grew during a long read
            "foreign_keys=ON",
            f"cache_size=-{cache_kb}",  # small: the kernel caches the file, too
            "temp_store=MEMORY",
        ):
            dbapi_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        at_driver(begin, connection)

    return engine


def at_driver(statement: str, connection: Connection) -> None:
    """Begin or end a transaction or savepoint at the driver, with SQLAlchemy's errors."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(statement)
        return
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute(statement)
    except sqlite3.Error as error:
        raise as_dbapi_error(statement, error) from error


def as_dbapi_error(statement: str, error: sqlite3.Error) -> BaseException:
    """Return SQLAlchemy's error for an error of the driver, without parameters."""
    return DBAPIError.instance(statement, None, error, sqlite3.Error, hide_parameters=True)


def was_rolled_back(error: DBAPIError) -> bool:
    """Return whether PostgreSQL rolled back for another transaction (40001, 40P01) or hung up."""
    state = getattr(error.orig, "sqlstate", None)
    return state in {"40001", "40P01"} or error.connection_invalidated


def _use_wal(dbapi_connection: Any) -> None:
    """Switch to WAL; repeat while another process does the same, since SQLite does not wait."""
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


def outage_line(error: BaseException) -> str | None:
    """Return the line of `error_line` if the database failed, else `None`.

    A wrong statement is our fault; its traceback belongs in a report.
    """
    return error_line(error) if isinstance(error, (InternalError, OperationalError)) else None


def error_line(error: BaseException) -> str:
    """Return the message of the driver or the system, without statement and values.

    If SQLite cannot write, the line ends with advice.
    """
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {why_not(error)}"
    cause = error.orig if isinstance(error, DBAPIError) else error
    line = str(cause).strip().partition("\n")[0]
    name = getattr(cause, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        line += "; look at the disk: it may be full or broken"
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        line += (
            "; run this as the server's user, who has to own the file and its folder (chown), "
            "and mount their disk for writing: SQLite writes to look, too"
        )
    return line
