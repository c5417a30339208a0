"""Structured log lines on stderr: time, level, room, event, key=value; never a secret."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sqlite3
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import TypeAlias

from pbmserv.config import blank_passwords
from pbmserv.errors import ServerFault

_ExcInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None] | None
)

_SECRET = re.compile(r"passw|passphrase|secret|seed|token|atoms", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+<>*,-]+")
_LONGEST = 400
_STATES = frozenset(("08", "25", "28", "3D", "40", "53", "55", "57", "58", "XX"))
"""Classes of SQLSTATE that are about connections, locks, disks and the server, never a value."""
_NO_TABLE = "42P01"
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """Writes any record, ours or a library's, as one line of printable characters:
    time, level, room, event, and each fact of ``extra={…}`` as ``key=value``.

    A fact whose name speaks of a secret is written as ``***``.
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        parts = [
            moment.replace("+00:00", "Z"),
            record.levelname.lower(),
            record.name.removeprefix("pbmserv."),
            _written(record.getMessage()),
        ]
        for key, value in vars(record).items():
            if key not in _STANDARD:
                parts.append(f"{key}={'***' if _SECRET.search(key) else _written(value)}")
        if record.exc_info:
            parts.append(_fault(record.exc_info))
        return " ".join(parts)


class _Stderr(logging.Handler):
    """Writes to what `sys.stderr` is at that moment; a log nobody reads stops no game."""

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record) + "\n"
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line)


def _written(value: object) -> str:
    text = str(value)
    if "://" in text:
        text = blank_passwords(text)
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
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


def _fault(info: _ExcInfo) -> str:
    """The exception's type, why it came, and from where, innermost first."""
    if info is None or info[1] is None:
        return "fault=unknown"
    fault = info[1]
    words = f"fault={type(fault).__name__}"
    if why := reason(fault):
        words += f" because={_written(why)}"
    frames = traceback.extract_tb(fault.__traceback__)[-6:]
    places = " < ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in reversed(frames))
    return f"{words} at={_written(places)}"


def configure(level: int | str) -> None:
    """Send our records from *level* (``"INFO"`` …) to stderr, and
    libraries' from WARNING: below that they quote mails and statements.

    Calling it again replaces what an earlier call set up.
    """
    handler = _Stderr()
    handler.setFormatter(LineFormatter())
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h, _Stderr)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("pbmserv").setLevel(level.upper() if isinstance(level, str) else level)
    # aiosmtpd sets its own logger to follow the root; uvicorn is kept quiet here too.
    for name in ("mail.log", "mail.debug", "uvicorn", "sqlalchemy", "alembic", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
