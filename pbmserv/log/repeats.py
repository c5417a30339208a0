"""Suppresses repeated log lines, so that a fault or a flood cannot fill the disk."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

SPAN_S = 60.0
"""Seconds over which equal lines are counted together."""
FLOOD = 20
"""Refusals of one kind from one network that are written in a span."""
WIDE_FLOOD = 600
"""Refusals of one kind from all networks together that are written in a span."""
MOST_KINDS = 2_000
"""Kinds of lines counted at a time; the least recently used are forgotten first."""


@dataclass(slots=True)
class _Count:
    """The lines of one kind in the current span."""

    span_start: float
    written: int = 0
    suppressed: int = 0


class RepeatFilter(logging.Filter):
    """Lets the first lines of each kind pass in a span of `SPAN_S` and counts the others.

    The first line of the next span carries the count (``repeated=``). Warnings and errors pass
    once in a span. Refusals (lines with ``network=`` and ``because=``) pass up to `FLOOD` times,
    since fail2ban counts them. All other lines pass, and so does an answer to an operator's
    request (``asked=``).
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: OrderedDict[Hashable, _Count] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if hasattr(record, "asked"):
            return True
        if record.levelno >= logging.WARNING:
            error = record.exc_info[1] if record.exc_info else None
            return self._passes(record, ("fault", type(error).__name__, str(error)), 1)
        if hasattr(record, "network") and hasattr(record, "because"):
            kind = ("refusal", str(record.because), str(record.network))
            return self._passes(record, kind, FLOOD) and self._passes(record, ("all",), WIDE_FLOOD)
        return True

    def _passes(self, record: logging.LogRecord, kind: tuple[str, ...], most: int) -> bool:
        key = (record.name, str(record.msg), *kind)
        with self._lock:
            count = self._counts.get(key)
            if count is None or not 0 <= record.created - count.span_start < SPAN_S:
                if count is not None and count.suppressed:
                    record.repeated = count.suppressed
                    record.span_s = round(record.created - count.span_start)
                count = self._counts[key] = _Count(record.created)
                if len(self._counts) > MOST_KINDS:
                    self._counts.popitem(last=False)
            self._counts.move_to_end(key)
            if count.written < most:
                count.written += 1
                return True
            count.suppressed += 1
            return False
