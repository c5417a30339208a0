"""The engine's clocks: spans of time, wishes for reminders, nights, and what stories do not reach.

`test_stories`, `test_tray` and the simulated year show what the clocks do.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.clocks import (
    Forfeit,
    Person,
    Remind,
    SeatClock,
    Server,
    Terms,
    Wait,
    clocks_after_turn,
    decide,
    read_remind,
)
from pbmserv.engine.clocks import clock_after_reminder as remind
from pbmserv.engine.time_spans import (
    counted_time,
    first_part,
    merge_spans,
    next_daytime,
    time_after,
    zone,
)
from pbmserv.engine.types import Seat

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
UP = Server((), NOON - DAY)
BERLIN = ZoneInfo("Europe/Berlin")


def at(days: float) -> datetime:
    return NOON + days * DAY


def reminded(*days: float) -> SeatClock:
    """A clock whose last reminder covered all that was due by then, and no more."""
    return SeatClock(NOON, tuple(at(day) for day in days), covered=days[-1] * DAY)


def look_at(terms: Terms, before: tuple[timedelta, ...] = ()) -> datetime | None:
    """Return the moment of the first look at a wait that begins at noon."""
    return clocks_after_turn((SeatClock(),), {Seat(0)}, (), NOON, {}, terms, [before])[1]


def test_a_letter_reminds_of_what_becomes_due_in_the_next_hours_and_once() -> None:
    person = Person.of("UTC", "2d,6h")
    assert remind(SeatClock(NOON), Terms(), person, UP, at(7) - 4 * HOUR) is None
    early = remind(SeatClock(NOON), Terms(), person, UP, at(7) - 2 * HOUR)
    assert early is not None
    assert early.reminded == (at(7) - 2 * HOUR,)
    assert decide(early, Terms(), person, UP, at(7)) == Wait(at(19))
    assert remind(early, Terms(), person, UP, at(7)) is None
    assert remind(SeatClock(NOON), Terms(alone=True), person, UP, at(21)) is None
    gone = Person(away=((at(6), at(8)),))
    assert remind(SeatClock(NOON), Terms(), gone, UP, at(7)) is None
    down = Server(((at(6), at(7)),), at(7))
    assert remind(SeatClock(NOON), Terms(), Person(), down, at(7) + HOUR / 2) is None


def test_without_a_reminder_one_comes_in_place_of_the_forfeit_and_a_day_is_left() -> None:
    terms = Terms(0, 1)
    assert decide(SeatClock(NOON), terms, Person(), UP, at(0.9)) == Wait(at(1))
    assert decide(SeatClock(NOON), terms, Person(), UP, at(1)) == Remind()
    assert decide(reminded(1), terms, Person(), UP, at(1)) == Wait(at(2))
    assert decide(reminded(1), terms, Person(), UP, at(2)) == Forfeit(total=False)


def test_a_keeper_that_was_late_with_the_reminder_is_late_with_the_forfeit() -> None:
    assert decide(SeatClock(NOON), Terms(), Person(), UP, at(30)) == Remind()
    assert decide(reminded(30), Terms(), Person(), UP, at(30)) == Wait(at(31))


@pytest.mark.parametrize(
    ("written", "offsets", "night"),
    [
        ("", (), False),
        ("2d,6h", (2 * DAY, 6 * HOUR), False),
        ("6h, night ,2d,2d", (2 * DAY, 6 * HOUR), True),
        ("soon,-1d,d,1w", (), False),
    ],
)
def test_wishes_are_read(written: str, offsets: tuple[timedelta, ...], night: bool) -> None:
    assert read_remind(written) == (offsets, night)


@pytest.mark.parametrize(
    ("moment", "morning"),
    [
        ("2026-03-28T20:59:00+00:00", "2026-03-28T20:59:00+00:00"),  # 21:59
        ("2026-03-28T21:00:00+00:00", "2026-03-29T05:00:00+00:00"),  # 22:00; clocks go forward
        ("2026-10-24T21:30:00+00:00", "2026-10-25T06:00:00+00:00"),  # clocks go back
        ("2026-03-01T05:59:59+00:00", "2026-03-01T06:00:00+00:00"),
        ("2026-03-01T06:00:00+00:00", "2026-03-01T06:00:00+00:00"),
    ],
)
def test_nights_end_at_seven_by_local_clocks(moment: str, morning: str) -> None:
    assert next_daytime(datetime.fromisoformat(moment), BERLIN) == datetime.fromisoformat(morning)


def test_a_turn_stops_one_clock_and_starts_the_other() -> None:
    both, terms = {Seat(0), Seat(1)}, (Terms(), [(), ()])
    clocks, look = clocks_after_turn((SeatClock(), SeatClock()), both, (), at(0), {}, *terms)
    assert clocks == (SeatClock(NOON), SeatClock(NOON))
    assert look == at(7)
    clocks = (reminded(7), reminded(7))
    clocks, look = clocks_after_turn(
        clocks, {Seat(1)}, {Seat(0)}, at(8), {Seat(0): 8 * DAY}, *terms, due_at=at(20)
    )
    assert clocks == (SeatClock(None, (), 8 * DAY), reminded(7))
    assert look == at(20), "what was known of a clock that runs on"
    clocks, look = clocks_after_turn(clocks, {Seat(0)}, {Seat(1)}, at(9), {}, *terms, due_at=look)
    assert clocks == (SeatClock(at(9), (), 8 * DAY), SeatClock())
    assert look == at(16)
    (again, _), look = clocks_after_turn(
        clocks, {Seat(0)}, {Seat(0)}, at(10), {}, *terms, due_at=look
    )
    assert again == SeatClock(at(10), (), 8 * DAY)
    assert look == at(17)


def test_an_unknown_zone_is_utc() -> None:
    assert zone("Europe/Atlantis") is UTC
    assert zone("../../etc/passwd") is UTC
    assert zone("Europe/Berlin") is BERLIN


moments = st.integers(0, 40 * 24 * 60).map(lambda minutes: NOON + timedelta(minutes=minutes))
spans = st.lists(st.tuples(moments, moments).map(lambda two: (min(two), max(two))), max_size=5)


@given(spans, moments, moments)
def test_merged_spans_count_each_minute_once(
    spans: list, moment: datetime, other: datetime
) -> None:
    since, until = min(moment, other), max(moment, other)
    stopped = merge_spans(spans)
    assert all(a[1] < b[0] for a, b in pairwise(stopped))
    step = timedelta(minutes=7)
    ticks = [since + n * step for n in range(int((until - since) / step))]
    running = [t for t in ticks if not any(b <= t < e for b, e in spans)]
    assert abs(counted_time(since, until, stopped) - len(running) * step) <= step * (
        2 * len(spans) + 1
    )


ticks = st.integers(0, 2_000).map(lambda minutes: NOON + timedelta(minutes=minutes))


@given(
    st.lists(st.tuples(ticks, ticks).map(lambda two: (min(two), max(two))), max_size=5),
    ticks,
    st.integers(0, 1_000).map(lambda minutes: timedelta(minutes=minutes)),
)
def test_the_first_days_of_absence_count_once_in_all_games_of_an_event(
    away: list, begun: datetime, most: timedelta
) -> None:
    """Each round asks for the absences since the first board, so the days do not begin again."""
    minute = timedelta(minutes=1)
    left, stopped, now = most, 0, begun
    counted = first_part(away, begun, most)
    while now < NOON + 2_000 * minute:
        is_stopped = bool(left) and any(begins <= now < ends for begins, ends in away)
        left -= is_stopped * minute
        assert any(begins <= now < ends for begins, ends in counted) == is_stopped
        stopped += is_stopped
        now += minute
    assert sum((ends - begins for begins, ends in counted), timedelta()) == stopped * minute


@given(spans, moments, st.integers(0, 30 * 24 * 60))
def test_an_instant_is_the_first_moment_with_that_count(
    spans: list, since: datetime, minutes: int
) -> None:
    stopped, waited = merge_spans(spans), timedelta(minutes=minutes)
    moment = time_after(since, waited, stopped)
    assert counted_time(since, moment, stopped) == waited
    if waited:
        assert counted_time(since, moment - timedelta(microseconds=1), stopped) < waited


@given(
    spans,
    spans,
    st.sampled_from(["", "2d,6h", "night", "1d,night", "30d"]),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Auckland"]),
    st.tuples(st.integers(0, 9), st.integers(0, 25), st.none() | st.integers(1, 30)),
    st.booleans(),
    moments,
)
def test_no_look_is_promised_before_its_time_and_the_first_one_is_early_enough(
    away: list, down: list, wish: str, tz: str, terms: tuple, digest: bool, now: datetime
) -> None:
    clock, person = SeatClock(NOON), Person.of(tz, wish, away, digest=digest)
    server = Server(tuple(down), NOON - DAY)
    decision = decide(clock, Terms(*terms), person, server, now)
    first = look_at(Terms(*terms), person.before)
    if isinstance(decision, Remind):
        assert first is not None
        assert first <= now
    else:
        assert isinstance(decision, Wait)
        assert decision.until is None or decision.until > now
        assert decision.until is None or (first is not None and first <= decision.until)
