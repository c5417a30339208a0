"""Writes log lines in a thread of its own, so that a slow reader of stderr delays no mail."""

from __future__ import annotations

import logging
import os
import sys
import threading
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from pbmserv.log.lines import JsonFormatter, Style, TextFormatter
from pbmserv.log.repeats import RepeatFilter

_log = logging.getLogger("pbmserv.serve")

MOST_WAITING = 10_000
"""Lines in the queue, about 1 kB each; further lines are lost and counted."""
LAST_WORDS_S = 2.0
"""Seconds for which the end of a process waits until its last lines are written."""


class BackgroundHandler(QueueHandler):
    """Formats records in the calling thread; another thread writes the lines to stderr."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self._lines: SimpleQueue[str] = SimpleQueue()
        super().__init__(self._lines)
        self.addFilter(RepeatFilter())
        self._is_closed = False
        self._listener = _LineWriter(self._lines, formatter)
        self._listener.start()

    @property
    def lost(self) -> int:
        """Lines that could not be written."""
        return self._listener.lost

    def prepare(self, record: logging.LogRecord) -> str:
        """Format a record; only its line is queued."""
        return self.format(record)

    def enqueue(self, line: Any) -> None:
        """Queue a line without waiting; if the queue is full, count it as lost."""
        if self._lines.qsize() >= MOST_WAITING:
            self._listener.overflowed += 1
        else:
            self._lines.put(line)

    def close(self) -> None:
        """Write the waiting lines and stop the thread; give up after `LAST_WORDS_S`."""
        if not self._is_closed:  # logging may close a handler again at exit
            self._is_closed = True
            stopping = threading.Thread(target=self._listener.stop, daemon=True)
            stopping.start()
            stopping.join(LAST_WORDS_S)
            self._listener.is_abandoned = True
        super().close()

    def wait(self) -> None:
        """Wait until all lines so far are written."""
        self._listener.stop()
        self._listener.start()


class _LineWriter(QueueListener):
    """Writes lines to the current `sys.stderr`, and counts the lines it loses.

    It bypasses the stream's buffer: if a stuck pipe keeps that full, the interpreter waits for it
    at exit.

    Args:
        formatter: formats the line about lost lines; all others come formatted.
    """

    def __init__(self, lines: SimpleQueue[str], formatter: logging.Formatter) -> None:
        super().__init__(lines)
        self._lines, self._formatter = lines, formatter
        self.overflowed = 0
        self.is_abandoned = False
        self._failed = self._reported = 0

    @property
    def lost(self) -> int:
        """Lines that found the queue full or could not be written."""
        return self.overflowed + self._failed

    def handle(self, line: Any) -> None:
        """Write a line."""
        if self.is_abandoned:
            return
        if not _write(line):
            self._failed += 1
        elif self.lost > self._reported and self._lines.empty():
            self._report_lost(self.lost)

    def _report_lost(self, lost: int) -> None:
        """Write a line about lines lost since the last report, once stderr is read again."""
        facts = {
            "name": "pbmserv.log",
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": "log lines were lost",
            "lost": lost - self._reported,
        }
        if _write(self._formatter.format(logging.makeLogRecord(facts))):
            self._reported = lost


def _write(line: str) -> bool:
    """Write a line to stderr and return whether that succeeded."""
    octets = f"{line}\n".encode()
    try:
        number = sys.stderr.fileno()
    except (OSError, ValueError):  # replaced by a stream without a descriptor
        sys.stderr.write(f"{line}\n")
        return True
    try:
        while octets:
            octets = octets[os.write(number, octets) :]
    except OSError:  # the disk is full, or the reader is gone
        return False
    return True


def configure(level: str, style: Style = "text", *, forks: bool = False) -> None:
    """Log our records from *level* (``"INFO"`` …) and libraries' warnings to stderr.

    Libraries' lines below WARNING quote mails and statements. In JSON, warnings of Python and
    uncaught errors are lines, too. A second call replaces the first one's setup.

    Args:
        forks: the process forks. It writes its lines itself, since its forks would have no thread
            that writes them.
    """
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler.formatter, JsonFormatter | TextFormatter):  # one of ours
            root.removeHandler(handler)
            handler.close()
    formatter = JsonFormatter() if style == "json" else TextFormatter()
    logging.captureWarnings(style == "json")
    if style == "json":
        sys.excepthook, threading.excepthook = _log_uncaught, _log_in_thread
    ours = logging.StreamHandler() if forks else BackgroundHandler(formatter)
    ours.setFormatter(formatter)
    root.addHandler(ours)
    root.setLevel(logging.WARNING)
    logging.getLogger("pbmserv").setLevel(level.upper())
    for name in ("uvicorn", "sqlalchemy", "alembic", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # aiosmtpd quotes its clients' words and addresses; our own lines say what matters.
    for name in ("mail.log", "mail.debug"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    _log.critical("an error was not handled", exc_info=(kind, error, trace))


def _log_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def writes_json() -> bool:
    """Return whether this process writes its log as JSON."""
    handlers = logging.getLogger().handlers
    return any(isinstance(handler.formatter, JsonFormatter) for handler in handlers)


def notice(text: str, level: int = logging.WARNING) -> None:
    """Write sentences for an operator at the terminal; in JSON, each line of them is a log line."""
    if not writes_json():
        sys.stderr.write(f"pbmserv: {text}\n")
        return
    for line in text.splitlines():
        _log.log(level, "%s", line.strip())


def lost() -> int:
    """Return the number of lines that this process could not write."""
    handlers = logging.getLogger().handlers
    return sum(handler.lost for handler in handlers if isinstance(handler, BackgroundHandler))
