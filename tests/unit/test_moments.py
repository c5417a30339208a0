"""Moments in SQLite, which are text without a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from sqlalchemy.dialects import sqlite

from pbmserv.store.tables.columns import Instant


def test_a_moment_of_any_zone_comes_back_in_utc() -> None:
    moment = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    write = Instant().bind_processor(sqlite.dialect())
    read = Instant().result_processor(sqlite.dialect(), None)
    assert write is not None
    assert read is not None
    for stored in (moment, moment.astimezone(UTC)):
        assert (read(write(stored)), read(write(stored)).tzinfo) == (moment, UTC)
