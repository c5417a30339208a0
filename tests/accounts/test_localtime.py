"""The next 07:30 on a player's own clock, and the dates that people write."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.time_spans import zone
from pbmserv.service.time.localtime import (
    days_touched,
    end_of_day,
    local_date,
    near_zones,
    next_local,
    read_date,
    zone_name,
)

BERLIN = zone("Europe/Berlin")
TODAY = date(2026, 3, 1)  # a Sunday

moments = st.integers(0, 40 * 366 * 86400).map(
    lambda seconds: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)
zones = st.sampled_from(
    [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "America/Sao_Paulo",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Pacific/Kiritimati",
        "Pacific/Apia",
        "Africa/Cairo",
    ]
)
minutes = st.integers(0, 1439)


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def test_the_next_morning_is_today_or_tomorrow() -> None:
    assert next_local(utc(2026, 1, 10, 6, 0), BERLIN, 450) == utc(2026, 1, 10, 6, 30)
    assert next_local(utc(2026, 1, 10, 6, 30), BERLIN, 450) == utc(2026, 1, 11, 6, 30)
    assert next_local(utc(2026, 7, 10, 6, 0), BERLIN, 450) == utc(2026, 7, 11, 5, 30)


def test_a_minute_that_the_clocks_leave_out_comes_right_after_the_gap() -> None:
    # On 29 March 2026 clocks in Berlin go from 02:00 to 03:00, which is 01:00 UTC.
    assert next_local(utc(2026, 3, 28, 12), BERLIN, 2 * 60 + 30) == utc(2026, 3, 29, 1)
    assert next_local(utc(2026, 3, 29, 1), BERLIN, 2 * 60 + 30) == utc(2026, 3, 30, 0, 30)


def test_a_minute_that_comes_twice_counts_once() -> None:
    # On 25 October 2026 clocks go from 03:00 back to 02:00: 02:30 is 00:30 and 01:30 UTC.
    assert next_local(utc(2026, 10, 24, 12), BERLIN, 2 * 60 + 30) == utc(2026, 10, 25, 0, 30)
    assert next_local(utc(2026, 10, 25, 0, 30), BERLIN, 2 * 60 + 30) == utc(2026, 10, 26, 1, 30)


def test_a_midnight_that_the_clocks_leave_out_comes_right_after_the_gap() -> None:
    # On 4 November 2018 the clocks in São Paulo went from 00:00 to 01:00.
    brazil = zone("America/Sao_Paulo")
    assert next_local(utc(2018, 11, 3, 12), brazil, 0) == utc(2018, 11, 4, 3)
    assert end_of_day(date(2018, 11, 3), brazil) == utc(2018, 11, 4, 3)


def test_a_day_that_a_zone_leaves_out_has_no_morning() -> None:
    # Samoa went from 29 to 31 December 2011.
    samoa = zone("Pacific/Apia")
    assert next_local(utc(2011, 12, 29, 18), samoa, 450) == utc(2011, 12, 30, 17, 30)
    assert local_date(utc(2011, 12, 30, 17, 30), samoa) == date(2011, 12, 31)


@given(moments, zones, minutes)
def test_the_next_one_is_later_and_soon_and_none_is_skipped(
    now: datetime, name: str, minute: int
) -> None:
    tz = zone(name)
    moment = next_local(now, tz, minute)
    assert timedelta() < moment - now <= timedelta(hours=50)
    # Nothing lies between: asked a moment before it, the answer is the same.
    assert next_local(moment - timedelta(seconds=1), tz, minute) == moment
    shown = moment.astimezone(tz)
    before = (moment - timedelta(seconds=1)).astimezone(tz)
    in_gap = before.utcoffset() != shown.utcoffset()
    assert in_gap or shown.hour * 60 + shown.minute == minute


@given(moments, zones, minutes)
def test_it_comes_once_a_local_day(now: datetime, name: str, minute: int) -> None:
    tz = zone(name)
    first = next_local(now, tz, minute)
    assert local_date(next_local(first, tz, minute), tz) > local_date(first, tz)


@given(moments, zones)
def test_a_day_ends_when_the_next_one_begins(now: datetime, name: str) -> None:
    tz = zone(name)
    today = local_date(now, tz)
    ends = end_of_day(today, tz)
    assert local_date(ends - timedelta(seconds=1), tz) == today
    assert local_date(ends, tz) > today


def test_days_touched_do_not_count_the_day_that_begins_at_the_end() -> None:
    begins = utc(2026, 3, 1, 12)
    ends = end_of_day(date(2026, 3, 3), BERLIN)
    assert list(days_touched(begins, ends, BERLIN)) == [date(2026, 3, day) for day in (1, 2, 3)]
    assert list(days_touched(begins, begins, BERLIN)) == [date(2026, 3, 1)]


@rows(
    ("text", "day"),
    [
        ("2026-12-24", date(2026, 12, 24)),
        ("until 2026-12-24", date(2026, 12, 24)),
        ("24 Dec", date(2026, 12, 24)),
        ("24th of December", date(2026, 12, 24)),
        ("Dec 24, 2027", date(2027, 12, 24)),
        ("3 sept", date(2026, 9, 3)),
        ("24.12.", date(2026, 12, 24)),
        ("24. 12. 2027", date(2027, 12, 24)),
        ("1 March", TODAY),
        ("28 Feb", date(2027, 2, 28)),
        ("29 Feb", date(2028, 2, 29)),
        ("today", TODAY),
        ("tomorrow", date(2026, 3, 2)),
        ("in 5 days", date(2026, 3, 6)),
        ("in a week", date(2026, 3, 8)),
        ("monday", date(2026, 3, 2)),
        ("Fri", date(2026, 3, 6)),
        ("next sunday", date(2026, 3, 8)),
    ],
)
def test_dates_as_people_write_them(text: str, day: date) -> None:
    assert read_date(text, TODAY) == day


@rows("text", ["", "3/4", "soon", "31.2.", "2026-13-01", "24 Nonsense", "s", "in some days", "99"])
def test_dates_that_are_not_clear(text: str) -> None:
    assert read_date(text, TODAY) is None


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader_of_dates(text: str) -> None:
    day = read_date(text, TODAY)
    assert day is None or isinstance(day, date)


def test_a_zone_is_found_by_its_name_in_any_spelling() -> None:
    assert zone_name("europe/berlin") == "Europe/Berlin"
    assert zone_name("America/New York") == "America/New_York"
    assert zone_name("utc") == "UTC"
    assert zone_name("../../etc/passwd") is None
    assert near_zones("berlin") == ["Europe/Berlin"]
    assert near_zones("Europe/Berln")[0] == "Europe/Berlin"
    assert near_zones("viena") == ["Europe/Vienna"]
    assert near_zones("qqqq") == []
