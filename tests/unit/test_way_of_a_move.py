"""A move stays a short way through the code, from the socket to both letters (names.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.trace_move import BARS, trace


@pytest.mark.slow
def test_a_move_runs_through_no_more_code_than_it_may(tmp_path: Path) -> None:
    found = trace(tmp_path)
    counts = found.counts()
    assert {what: counts[what] for what in BARS if counts[what] > BARS[what]} == {}
    # It saw all of the way, and not only a part.
    rooms = {file.partition("/")[0] for file, _ in found.calls}
    assert rooms >= {
        "smtpd",
        "stages",
        "inbound",
        "service",
        "games",
        "store",
        "letters",
        "outbound",
    }
