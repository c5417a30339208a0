"""Formats log records as one line each: time, level, room, event, facts; never a secret."""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, TypeAlias

from pbmserv.config.display import blank_passwords
from pbmserv.errors import ServerFault

Style: TypeAlias = Literal["text", "json"]

_ExcInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)

_SECRET_NAME = re.compile(r"passw|passphrase|secret|seed|token|atoms", re.IGNORECASE)
"""A part of the name of a fact that suggests a secret."""
_BARE_VALUE = re.compile(r"[A-Za-z0-9_.:/@+<>*,-]+")
_LONGEST_VALUE = 400
_STATE_CLASSES = frozenset(("08", "25", "28", "3D", "40", "53", "55", "57", "58", "XX"))
"""Classes of SQLSTATE about connections, locks, disks and the server, never about a value."""
_UNDEFINED_TABLE = "42P01"
_RESERVED_KEYS = frozenset(("time", "level", "room", "event"))
_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
}


class TextFormatter(logging.Formatter):
    """Formats records for people and for programs that read ``key=value``.

    Each fact of ``extra={…}`` follows the event. A fact whose name suggests a secret is written
    as ``***``.
    """

    def format(self, record: logging.LogRecord) -> str:
        parts = [
            _timestamp(record),
            record.levelname.lower(),
            _room(record),
            _quoted(_event(record)),
        ]
        parts += [f"{key}={_quoted(value)}" for key, value in facts_of(record)]
        return " ".join(parts)


class JsonFormatter(logging.Formatter):
    """Formats records as JSON objects; numbers stay numbers, all other values are text."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _timestamp(record),
            "level": record.levelname.lower(),
            "room": _room(record),
            "event": _shortened(_event(record)),
        }
        for key, value in facts_of(record):
            name = f"{key}_" if key in _RESERVED_KEYS else key
            line[name] = value if _is_json_number(value) else _shortened(value)
        return json.dumps(line).replace("\x7f", "\\u007f")


def facts_of(record: logging.LogRecord) -> Iterator[tuple[str, object]]:
    """Yield the facts of a record in their order, then those of its exception; secrets blanked."""
    for key, value in vars(record).items():
        if key not in _STANDARD_ATTRIBUTES:
            yield key, "***" if _SECRET_NAME.search(key) else value
    if record.exc_info:
        yield from _exception_facts(record.exc_info)


def reason(error: BaseException) -> str:
    """Return the part of an exception's text that may be logged, ``""`` if there is none.

    Our own exceptions and the system's are logged whole; of a database's, only messages about its
    own state. Any other text may quote its input, which may be a player's password.
    """
    if isinstance(error, ServerFault | OSError):
        return str(error)
    driver_error = getattr(error, "orig", None)  # SQLAlchemy's own text contains the statement
    if isinstance(driver_error, sqlite3.Error):
        name = getattr(driver_error, "sqlite_errorname", "")  # Python's own errors have none
        is_state = name not in {"", "SQLITE_ERROR", "SQLITE_MISMATCH"}
        text = str(driver_error)
        return text if is_state or text.startswith("no such table: ") else name
    code = getattr(driver_error, "sqlstate", None)
    if code:
        primary = getattr(getattr(driver_error, "diag", None), "message_primary", None)
        is_state = code[:2] in _STATE_CLASSES or code == _UNDEFINED_TABLE
        return f"{code} {primary}" if is_state and primary else str(code)
    # Without a code, the server could not be reached; the driver's text names only its address.
    return str(driver_error) if type(driver_error).__name__ == "OperationalError" else ""


def _event(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # wrong arguments must not stop the caller
        return str(record.msg)


def _room(record: logging.LogRecord) -> str:
    return record.name.removeprefix("pbmserv.")


def _timestamp(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _exception_facts(info: _ExcInfo) -> Iterator[tuple[str, str]]:
    """Yield the type of an exception, its reason, and its innermost six frames."""
    error = info[1]
    if error is None:
        yield "fault", "unknown"
        return
    yield "fault", type(error).__name__
    if because := reason(error):
        yield "because", because
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    places = (f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in reversed(frames))
    yield "at", " < ".join(places)


def _is_json_number(value: object) -> bool:
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value is None or is_number


def _shortened(value: object) -> str:
    text = str(value)
    if "://" in text:
        text = blank_passwords(text)
    return text[: _LONGEST_VALUE - 1] + "…" if len(text) > _LONGEST_VALUE else text


def _quoted(value: object) -> str:
    text = _shortened(value)
    # JSON escapes every control character, line separator and lone surrogate, except DEL.
    return text if _BARE_VALUE.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007f")
