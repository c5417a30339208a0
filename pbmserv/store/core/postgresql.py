"""Opens PostgreSQL so that every wait has an end.

TCP detects a machine that is gone (keepalives, TCP_USER_TIMEOUT). The server ends statements that
take too long (statement_timeout). If something between us drops packets silently, neither can tell,
and we stop waiting. Timeouts in the database URL have precedence.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import Conninfo, TransactionStatus
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

SILENCE_S = 15
"""Seconds that an answer may take beyond the server's own timeout."""

IDLE_MS = 60_000
"""Milliseconds that an idle transaction of ours may stay open."""

POOL_TIMEOUT = "pool_timeout"
"""Our own parameter in a URL: seconds to wait for a free connection."""

CONNECTING: Mapping[str, str] = {
    "connect_timeout": "5",  # seconds, for each host of the URL
    "keepalives": "1",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": str(SILENCE_S * 1000),
    # A database without an encoding (SQL_ASCII) answers with octets where none is named.
    "client_encoding": "utf8",
}
"""Parameters of libpq (its documentation, "Parameter Key Words")."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts that follow from a database URL.

    Attributes:
        url: the URL without our own words, for libpq.
        connecting: parameters of libpq that the URL does not set.
        session_ms: settings of a session that the URL does not set, in milliseconds.
        idle_s: seconds in which an idle connection must answer.
        silence_s: see `SILENCE_S`; the URL can set it as tcp_user_timeout.
        pool_s: see `POOL_TIMEOUT`.
    """

    url: URL
    connecting: Mapping[str, str]
    session_ms: Mapping[str, int]
    idle_s: float
    silence_s: float
    pool_s: float


def url_fault(url: str) -> str:
    """Return the part of a URL that SQLAlchemy or libpq would refuse, ``""`` for none."""
    try:
        parsed = make_url(url)
        parsed.get_dialect()().create_connect_args(parsed)
    except (ArgumentError, ValueError):  # the text may quote a password
        return "the host or port is wrong; in a password @ is %40, : is %3A, and / is %2F"
    if not parsed.database:
        return "the name of the database is missing"
    names = {POOL_TIMEOUT, *(option.keyword.decode() for option in Conninfo.get_defaults())}
    for name, value in parsed.query.items():
        if name not in names:
            similar = get_close_matches(name, names, 1)
            return f"there is no option {name}" + "".join(
                f"; did you mean {word}?" for word in similar
            )
        if not isinstance(value, str) and name not in {"host", "port"}:
            return f"{name} can be given only once"
        if name.endswith("timeout") and not re.fullmatch(r"[0-9]{1,7}", str(value)):
            return f"{name} needs a whole number"
    return ""


def timeouts(url: str, busy_ms: int) -> Timeouts:
    """Read the timeouts in a URL, and add the defaults.

    Args:
        busy_ms: milliseconds that a statement waits for a lock.
    """
    parsed = make_url(url)
    in_url = {name: str(value) for name, value in parsed.query.items()}
    options = in_url.get("options", "")
    parameters = {**CONNECTING, **in_url}
    session_ms = {
        "lock_timeout": busy_ms,
        "statement_timeout": busy_ms * 3 // 2,
        # A server of ours that vanishes in a transaction must not keep its locks for hours.
        "idle_in_transaction_session_timeout": IDLE_MS,
    }
    return Timeouts(
        parsed.difference_update_query([POOL_TIMEOUT]),
        {name: value for name, value in CONNECTING.items() if name not in in_url},
        {name: value for name, value in session_ms.items() if not _is_option(name, options)},
        # psycopg waits at least two seconds, as libpq does; 0 means without limit.
        max(2.0, float(parameters["connect_timeout"])),
        float(parameters["tcp_user_timeout"]) / 1000 or SILENCE_S,
        float(in_url.get(POOL_TIMEOUT, "10")),
    )


def _is_option(name: str, options: str) -> bool:
    """Return whether the URL sets an option by ``options=-c name=value``."""
    return re.search(rf"(?:-c\s*|--){name.replace('_', '[_-]')}\s*=", options) is not None


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits for an answer for a limited time.

    When the time is over, it is closed, since the state of the server is unknown.

    Attributes:
        patience: seconds; `None` for no limit.
        resting: patience while the connection is idle, for a ping.
        working: patience while it is used.
    """

    patience: float | None = None
    resting: float | None = None
    working: float | None = None

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait as psycopg does, for a limited time."""
        try:
            return super().wait(gen, interval, self.patience if timeout is None else timeout)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError("no answer from the server in time") from error


def open_engine(url: str, pool_size: int, busy_ms: int, name: Callable[[], str]) -> Engine:
    """Return an engine whose every wait has an end, see `timeouts`.

    Args:
        name: returns the application's name for a new connection, unless the URL has one.
    """
    limits = timeouts(url, busy_ms)
    engine = create_engine(
        limits.url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=limits.pool_s,
        pool_pre_ping=True,
        hide_parameters=True,
    )

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, _args: Any, named: dict[str, Any]) -> Any:
        return _connected(limits, {"application_name": name(), **named})

    event.listen(engine, "checkout", _begin_work)
    event.listen(engine, "checkin", _rest)
    return engine


def _connected(limits: Timeouts, named: Mapping[str, Any]) -> PatientConnection:
    opened = PatientConnection.connect(**{**limits.connecting, **named})
    try:
        _set_up(opened, limits)
    except BaseException:
        opened.close()
        raise
    return opened


def _set_up(opened: PatientConnection, limits: Timeouts) -> None:
    """Set the timeouts of the session and of the connection."""
    opened.patience = opened.resting = limits.idle_s
    for name, value in limits.session_ms.items():
        opened.execute(f"SET {name} = {value}".encode())
    row = opened.execute(
        "SELECT extract(epoch FROM current_setting('statement_timeout')::interval)::float8"
    ).fetchone()
    opened.commit()
    if row is not None and row[0]:  # 0 = no end
        opened.working = row[0] + limits.silence_s


def _begin_work(opened: PatientConnection, _record: Any, _proxy: Any) -> None:
    opened.patience = opened.working


def _rest(opened: PatientConnection | None, _record: Any) -> None:
    if opened is not None:  # None if it was closed
        opened.patience = opened.resting


def encoding_of(engine: Engine) -> str:
    """Return the name of a database's encoding, such as UTF8."""
    with engine.connect() as connection:
        return str(connection.exec_driver_sql("SHOW server_encoding").scalar())


def shares_sessions(engine: Engine) -> bool:
    """Return whether several connections share a session, as behind a pooler in transaction mode.

    Our time limits, and statements that psycopg has prepared, belong to a session. A mark in the
    session of one connection tells: a second one, which keeps its session by a transaction, has
    this session, or the first one gets another.
    """
    mark = secrets.token_hex(8)
    read = text("SELECT current_setting('pbmserv.session', true)")
    with engine.connect() as first, engine.connect() as second:
        first.execute(text("SELECT set_config('pbmserv.session', :mark, false)"), {"mark": mark})
        first.commit()
        shares = second.execute(read).scalar() == mark or first.execute(read).scalar() != mark
        first.rollback()
        second.rollback()
        return shares


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Let the statements of this transaction, such as a migration's, take as long as they need."""
    opened = connection.connection.driver_connection
    assert isinstance(opened, PatientConnection)
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
    opened.patience = None
    try:
        yield
    finally:
        opened.patience = opened.working
