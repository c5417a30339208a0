"""Opens PostgreSQL so that a server which does not answer is given up after a known time.

TCP notices a machine that is gone (keepalives, TCP_USER_TIMEOUT), the server ends what takes too
long by itself (statement_timeout), and where neither can tell, since something between us takes
our packets and says nothing, we stop waiting. Whatever the database URL says of these, counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import Conninfo, TransactionStatus
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

SILENCE_S = 15
"""How long an answer may take beyond what the server allows its statements."""

IDLE_MS = 60_000
"""How long a transaction of ours may stand open while we ask for nothing."""

POOL_TIMEOUT = "pool_timeout"
"""Our own word in a URL: seconds to wait for a connection that others use."""

CONNECTING: Mapping[str, str] = {
    "connect_timeout": "5",  # seconds, for each host of the URL
    "keepalives": "1",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": str(SILENCE_S * 1000),
}
"""What libpq is asked for (libpq's documentation, "Parameter Key Words")."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """What one database URL amounts to.

    Attributes:
        url: without our own words, for libpq alone.
        connecting: parameters of libpq that the URL does not name.
        allowed: settings of a session that the URL does not name, milliseconds.
        idle_s: how long a connection that was idle may take to answer.
        silence_s: see `SILENCE_S`; what the URL calls tcp_user_timeout.
        pool_s: see `POOL_TIMEOUT`.
    """

    url: URL
    connecting: Mapping[str, str]
    allowed: Mapping[str, int]
    idle_s: float
    silence_s: float
    pool_s: float


def wrong_in(url: str) -> str:
    """What SQLAlchemy or libpq would not understand in a URL; ``""``: nothing."""
    try:
        parsed = make_url(url)
        parsed.get_dialect()().create_connect_args(parsed)
    except (ArgumentError, ValueError):  # whose text may quote a password
        return "the host or port is wrong; in a password @ is %40, : is %3A, and / is %2F"
    if not parsed.database:
        return "the name of the database is missing"
    known = {POOL_TIMEOUT, *(option.keyword.decode() for option in Conninfo.get_defaults())}
    for name, value in parsed.query.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            return f"there is no option {name}" + "".join(f"; did you mean {one}?" for one in near)
        if not isinstance(value, str) and name not in {"host", "port"}:
            return f"{name} can be said once only"
        if name.endswith("timeout") and not re.fullmatch(r"[0-9]{1,7}", str(value)):
            return f"{name} needs a whole number"
    return ""


def timeouts(url: str, busy_ms: int) -> Timeouts:
    """Read what a URL says, and fill in the rest.

    Args:
        busy_ms: how long a statement waits for somebody else's lock.
    """
    parsed = make_url(url)
    said = {name: str(value) for name, value in parsed.query.items()}
    options = said.get("options", "")
    known = {**CONNECTING, **said}
    allowed = {
        "lock_timeout": busy_ms,
        "statement_timeout": busy_ms * 3 // 2,
        # A server of ours that vanished in the middle must not keep its locks for two hours.
        "idle_in_transaction_session_timeout": IDLE_MS,
    }
    return Timeouts(
        parsed.difference_update_query([POOL_TIMEOUT]),
        {name: value for name, value in CONNECTING.items() if name not in said},
        {name: value for name, value in allowed.items() if not _is_option(name, options)},
        # psycopg gives a connection two seconds at least (as libpq does), 0 = no end.
        max(2.0, float(known["connect_timeout"])),
        float(known["tcp_user_timeout"]) / 1000 or SILENCE_S,
        float(said.get(POOL_TIMEOUT, "10")),
    )


def _is_option(name: str, options: str) -> bool:
    """Whether the URL's ``options=-c name=value`` sets it."""
    return re.search(rf"(?:-c\s*|--){name.replace('_', '[_-]')}\s*=", options) is not None


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits for an answer so long and no longer.

    One that was given up is closed, since nobody knows what the server still does on it.

    Attributes:
        patience: seconds; ``None`` = without end.
        resting: patience while nobody uses it, which is with a ping.
        working: patience while somebody does.
    """

    patience: float | None = None
    resting: float | None = None
    working: float | None = None

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        """As psycopg's, with an end."""
        try:
            return super().wait(gen, interval, self.patience if timeout is None else timeout)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError("no answer from the server in time") from error


def open_engine(url: str, pool_size: int, busy_ms: int) -> Engine:
    """An engine whose every wait has an end, also the one for a connection; see `timeouts`."""
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
        return _connected(limits, named)

    event.listen(engine, "checkout", _begin_work)
    event.listen(engine, "checkin", _rest)
    return engine


def _connected(limits: Timeouts, named: Mapping[str, Any]) -> PatientConnection:
    opened = PatientConnection.connect(**{**limits.connecting, **named})
    try:
        _set_up(opened, limits)
    except BaseException:  # nobody else has seen it yet
        opened.close()
        raise
    return opened


def _set_up(opened: PatientConnection, limits: Timeouts) -> None:
    """Tell the server and the connection how long things may take."""
    opened.patience = opened.resting = limits.idle_s
    for name, value in limits.allowed.items():
        opened.execute(f"SET {name} = {value}".encode())
    allowed = opened.execute(
        "SELECT extract(epoch FROM current_setting('statement_timeout')::interval)::float8"
    ).fetchone()
    opened.commit()
    if allowed is not None and allowed[0]:  # 0 = no end
        opened.working = allowed[0] + limits.silence_s


def _begin_work(opened: PatientConnection, _record: Any, _proxy: Any) -> None:
    opened.patience = opened.working


def _rest(opened: PatientConnection | None, _record: Any) -> None:
    if opened is not None:  # None: it has been given up
        opened.patience = opened.resting


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Let statements of this transaction take as long as they need: a migration's."""
    opened = connection.connection.driver_connection
    assert isinstance(opened, PatientConnection)
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
    opened.patience = None
    try:
        yield
    finally:
        opened.patience = opened.working
