"""Facts of log lines, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pbmserv.log import TextFormatter
from pbmserv.log.lines import facts_of


def facts(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    """Return the facts of each line of an event."""
    return [dict(facts_of(record)) for record in caplog.records if record.getMessage() == event]


def written(caplog: pytest.LogCaptureFixture) -> Sequence[str]:
    """Return all lines of ours, as they are written."""
    ours = [record for record in caplog.records if record.name.startswith("pbmserv.")]
    return [TextFormatter().format(record) for record in ours]
