"""Structured log lines on stderr: time, level, room, event, facts; never a secret."""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from types import TracebackType
from typing import Literal, TextIO, TypeAlias

from pbmserv.config.values import blank_passwords
from pbmserv.errors import ServerFault
from pbmserv.monitoring.log_writing import Entry, Writing

_ExcInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None] | None
)

Style: TypeAlias = Literal["text", "json"]

_SECRET = re.compile(r"passw|passphrase|secret|seed|token|atoms", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+<>*,-]+")
_LONGEST = 400
_STATES = frozenset(("08", "25", "28", "3D", "40", "53", "55", "57", "58", "XX"))
"""Classes of SQLSTATE that are about connections, locks, disks and the server, never a value."""
_NO_TABLE = "42P01"
_OWN = frozenset(("time", "level", "room", "event"))
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """Writes any record, ours or a library's, as one line of printable characters:
    time, level, room, event, and each fact of ``extra={…}`` as ``key=value``.

    A fact whose name speaks of a secret is written as ``***``.
    """

    def format(self, record: logging.LogRecord) -> str:
        return text_line(entry_of(record))


def entry_of(record: logging.LogRecord) -> Entry:
    """What a record says, without what it must not hold on to: arguments and exceptions."""
    try:
        event = record.getMessage()
    except (TypeError, ValueError, KeyError):  # a slip in a line of the log stops nobody
        event = str(record.msg)
    facts = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    fault = _fault(record.exc_info) if record.exc_info else {}
    return Entry(record.created, record.levelno, record.name, str(record.msg), event, facts, fault)


def text_line(entry: Entry) -> str:
    """One line for people, and for programs that read ``key=value``."""
    parts = [
        _moment(entry),
        logging.getLevelName(entry.level).lower(),
        entry.name.removeprefix("pbmserv."),
        _written(entry.event),
    ]
    for key, value in entry.facts.items():
        parts.append(f"{key}={'***' if _is_secret(key) else _written(value)}")
    parts += [f"{key}={_written(value)}" for key, value in entry.fault.items()]
    return " ".join(parts)


def json_line(entry: Entry) -> str:
    """The same as one JSON object; numbers are numbers, and all else is text."""
    found: dict[str, object] = {
        "time": _moment(entry),
        "level": logging.getLevelName(entry.level).lower(),
        "room": entry.name.removeprefix("pbmserv."),
        "event": _told(entry.event),
    }
    for key, value in (*entry.facts.items(), *entry.fault.items()):
        # None of ours is called so, but a library's might be.
        name = f"{key}_" if key in _OWN else key
        if _is_secret(key):
            found[name] = "***"
        else:
            found[name] = value if _is_plain(value) else _told(value)
    return json.dumps(found).replace("\x7f", "\\u007f")


def _is_plain(value: object) -> bool:
    """Whether JSON has it as it is, and not only as text."""
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value is None or is_number


def _moment(entry: Entry) -> str:
    seconds, thousandth = divmod(int(entry.created * 1000), 1000)
    return f"{_second(seconds)}.{thousandth:03}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


@lru_cache(maxsize=1_000)
def _is_secret(key: str) -> bool:
    return _SECRET.search(key) is not None


def _told(value: object) -> str:
    text = str(value)
    if "://" in text:
        text = blank_passwords(text)
    return text[: _LONGEST - 1] + "…" if len(text) > _LONGEST else text


def _written(value: object) -> str:
    if type(value) is int or type(value) is float:
        return str(value)
    text = _told(value)
    # JSON escapes every control character, line separator and lone surrogate, except DEL.
    return text if _PLAIN.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007f")


def reason(fault: BaseException) -> str:
    """What may be told of an exception: ours and the system's whole text, of a database's what it
    says about its own state; else ``""``.

    Other text is left out: a library may quote what it was given, and that may be a player's
    password. So do databases where a value or a statement is wrong.
    """
    if isinstance(fault, ServerFault | OSError):
        return str(fault)
    said = getattr(fault, "orig", None)  # SQLAlchemy's; its own text has the statement in it
    if isinstance(said, sqlite3.Error):
        name = getattr(said, "sqlite_errorname", "")  # none where the driver itself complains
        is_state = name not in {"", "SQLITE_ERROR", "SQLITE_MISMATCH"}
        return str(said) if is_state or str(said).startswith("no such table: ") else name
    code = getattr(said, "sqlstate", None)
    if code:
        primary = getattr(getattr(said, "diag", None), "message_primary", None)
        is_state = code[:2] in _STATES or code == _NO_TABLE
        return f"{code} {primary}" if is_state and primary else str(code)
    # Without a code the server was never asked: psycopg tells which one could not be reached.
    return str(said) if type(said).__name__ == "OperationalError" else ""


def _fault(info: _ExcInfo) -> dict[str, str]:
    """The exception's type, why it came, and from where, innermost first."""
    if info is None or info[1] is None:
        return {"fault": "unknown"}
    fault = info[1]
    told = {"fault": type(fault).__name__}
    if why := reason(fault):
        told["because"] = why
    frames = traceback.extract_tb(fault.__traceback__)[-6:]
    places = (f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in reversed(frames))
    return {**told, "at": " < ".join(places)}


def configure(level: int | str, style: Style = "text", *, forks: bool = False) -> None:
    """Send our records from *level* (``"INFO"`` …) to stderr, and
    libraries' from WARNING: below that they quote mails and statements.

    Lines are written by a thread (`log_writing`), but not in a process that *forks*. Calling it
    again replaces what an earlier call set up.
    """
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h, Writing | _Plain)]:
        root.removeHandler(old)
        old.close()
    line_of = json_line if style == "json" else text_line
    root.addHandler(_Plain(line_of) if forks else Writing(entry_of, line_of))
    root.setLevel(logging.WARNING)
    # What no line of ours says need not be found out for each (logging HOWTO, "Optimization").
    setattr(logging, "_srcfile", None)  # noqa: B010 - mypy knows nothing of it
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("pbmserv").setLevel(level.upper() if isinstance(level, str) else level)
    for name in ("uvicorn", "sqlalchemy", "alembic", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # aiosmtpd quotes the words of clients, with their addresses; what matters we say ourselves.
    for name in ("mail.log", "mail.debug"):
        logging.getLogger(name).setLevel(logging.ERROR)


class _Plain(logging.StreamHandler[TextIO]):
    """Writes lines at once."""

    def __init__(self, line_of: Callable[[Entry], str]) -> None:
        super().__init__()
        self._line_of = line_of

    def format(self, record: logging.LogRecord) -> str:
        return self._line_of(entry_of(record))


def lost() -> int:
    """Lines that could not be written since `configure`."""
    return sum(h.lost for h in logging.getLogger().handlers if isinstance(h, Writing))
