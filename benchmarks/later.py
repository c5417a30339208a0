"""`pbmserv` with a clock that is BENCH_DAYS ahead, so that everything kept for days expires."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from pbmserv.__main__ import main
from pbmserv.clock import SystemClock

DAYS = "BENCH_DAYS"


def _later(_clock: SystemClock) -> datetime:
    """Replace `SystemClock.now`."""
    return datetime.now(UTC) + timedelta(days=float(os.environ[DAYS]))


if __name__ == "__main__":
    setattr(SystemClock, "now", _later)  # noqa: B010 - a plain assignment is no method to mypy
    main()
