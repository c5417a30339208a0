"""The log: one line on stderr for each event, with facts and without secrets.

`configure` sets it up for a process, `lines` formats, `repeats` suppresses repeated lines.
"""

from __future__ import annotations

from pbmserv.log.lines import JsonFormatter, Style, TextFormatter, reason
from pbmserv.log.writing import configure, lost, notice, writes_json

__all__ = [
    "JsonFormatter",
    "Style",
    "TextFormatter",
    "configure",
    "lost",
    "notice",
    "reason",
    "writes_json",
]
