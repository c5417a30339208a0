"""Lines of the log, as facts that a test can ask about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pbmserv.log import entry_of, text_line


def facts(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    """What each line of this event says."""
    found = [entry_of(record) for record in caplog.records]
    return [dict(entry.facts) for entry in found if entry.event == event]


def written(caplog: pytest.LogCaptureFixture) -> Sequence[str]:
    """All lines of ours, as they are written."""
    ours = [record for record in caplog.records if record.name.startswith("pbmserv.")]
    return [text_line(entry_of(record)) for record in ours]
