"""Banks of time, weekdays and the clock of events, against a simulation minute by minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.clocks import (
    EVENT_CLOCK,
    RECOVERY,
    Forfeit,
    Person,
    Remind,
    SeatClock,
    Server,
    Terms,
    Wait,
    clock_after_reminder,
    clocks_after_turn,
    counted_wait,
    decide,
    time_left,
)
from pbmserv.engine.time_spans import Span, first_part, merge_spans, weekends
from pbmserv.engine.types import Seat

FRIDAY = datetime(2026, 3, 6, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
BANK = Terms(nag=7, forfeit=0, total=14, increment=1, cap=30)
ZONES = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Auckland", "America/Havana"]


def test_a_turn_uses_the_bank_and_adds_to_it_up_to_the_cap() -> None:
    assert BANK.used_after(timedelta(), 5 * DAY, has_moved=True) == 4 * DAY
    assert BANK.used_after(timedelta(), 5 * DAY, has_moved=False) == 5 * DAY
    quick = timedelta()
    for _ in range(40):
        quick = BANK.used_after(quick, HOUR, has_moved=True)
    assert BANK.limit(SeatClock(used=quick)) == 30 * DAY, "the cap"
    rich = SeatClock(used=quick).with_time(BANK, 3 * DAY)
    assert BANK.limit(rich) == 33 * DAY, "given time stays above it"
    used = BANK.used_after(rich.used, HOUR, has_moved=True)
    assert BANK.limit(SeatClock(used=used)) == 33 * DAY - HOUR


def test_terms_for_an_answer_have_no_bank() -> None:
    assert BANK.for_answer() == Terms()
    assert Terms(7, 9, 14, 1, 30).for_answer() == Terms(7, 9)


# -- against a simulation ------------------------------------------------------------------------

DAYS = 45
minutes = st.integers(0, DAYS * 24 * 60)
spans = st.lists(st.tuples(minutes, minutes).map(sorted), max_size=4)


def moments(pairs: list[list[int]]) -> tuple[Span, ...]:
    return tuple((FRIDAY + a * MINUTE, FRIDAY + b * MINUTE) for a, b in pairs)


def counting_minutes(away: tuple[Span, ...], down: tuple[Span, ...], zone: str, *, weekdays: bool):
    """Return for each minute since Friday noon whether it counts: 1 or 0."""
    length = 4 * DAYS * 24 * 60
    counts = bytearray(b"\1") * length
    for begins, ends in (*away, *down):
        first, last = int((begins - FRIDAY) / MINUTE), int((ends - FRIDAY) / MINUTE)
        counts[first:last] = bytes(len(counts[first:last]))
    if weekdays:
        local = ZoneInfo(zone)
        for minute in range(0, length, 15):  # local days begin at quarters of an hour
            if (FRIDAY + minute * MINUTE).astimezone(local).weekday() >= 5:
                counts[minute : minute + 15] = bytes(15)
    return counts


@examples(10)
@given(
    spans,
    spans,
    st.sampled_from(ZONES),
    st.booleans(),
    st.tuples(st.integers(0, 20), st.integers(1, 30)),
    st.integers(0, 20 * 24 * 60),
    minutes,
)
def test_the_time_left_is_what_a_clock_on_the_wall_would_show(
    away: list, down: list, zone: str, weekdays: bool, days: tuple[int, int], used: int, now: int
) -> None:
    forfeit, total = days
    terms = Terms(0, forfeit, total, 1, 30, weekdays=weekdays)
    person = Person(ZoneInfo(zone), moments(away))
    server = Server(moments(down), FRIDAY - DAY)
    clock = SeatClock(FRIDAY, used=used * MINUTE)
    counts = counting_minutes(person.away, server.down, zone, weekdays=weekdays)
    bank = max(0, total * 24 * 60 - used)
    limit = min(bank, forfeit * 24 * 60) if forfeit else bank
    left = time_left(clock, terms, person, server, FRIDAY + now * MINUTE)
    assert left is not None
    assert left.counted == max(0, limit - sum(counts[:now])) * MINUTE
    if limit == 0:
        return  # it is over, as soon as the player may hear of it
    waited = minute = 0
    while waited < limit:  # the wall clock, minute by minute
        waited += counts[minute]
        minute += 1
    minute = max(minute, now)
    while any(begins <= FRIDAY + minute * MINUTE < ends for begins, ends in person.away):
        minute += 1
    assert left.until == FRIDAY + minute * MINUTE


@given(st.sampled_from(ZONES), minutes, minutes)
def test_weekends_are_whole_saturdays_and_sundays(zone: str, first: int, second: int) -> None:
    local = ZoneInfo(zone)
    begin, end = FRIDAY + min(first, second) * MINUTE, FRIDAY + max(first, second) * MINUTE
    days = weekends(begin, end, local)
    assert all(a[1] < b[0] for a, b in pairwise(days))
    for begins, ends in days:
        assert begins.astimezone(local).weekday() == 5
        assert (begins - MINUTE).astimezone(local).weekday() == 4
        assert (ends - MINUTE).astimezone(local).weekday() == 6
        assert ends.astimezone(local).weekday() == 0


waits = st.lists(st.floats(0, 20), max_size=60)


@examples(20)
@given(waits, spans, spans, spans, st.sampled_from(["", "2d,6h"]), st.booleans())
def test_a_game_of_an_event_ends_after_at_most_88_days_in_which_the_server_was_up(
    thinking: list[float], mine: list, theirs: list, down: list, wish: str, digest: bool
) -> None:
    """Let two players take any time for each turn, or never move again."""
    most = EVENT_CLOCK.away
    assert most is not None
    people = [
        Person.of("UTC", wish, first_part(moments(spans), FRIDAY, most * DAY), digest=digest)
        for spans in (mine, theirs)
    ]
    server = Server(tuple(merge_spans(moments(down))), FRIDAY - DAY)
    now, mover = FRIDAY, 0
    clocks, _ = clocks_after_turn(
        (SeatClock(), SeatClock()), {Seat(0)}, (), now, {}, EVENT_CLOCK, [(), ()]
    )
    while True:
        left = time_left(clocks[mover], EVENT_CLOCK, people[mover], server, now)
        assert left is not None
        assert left.until is not None
        move = now + thinking.pop() * DAY if thinking else None
        if move is None or move >= left.until:
            decision = decide(clocks[mover], EVENT_CLOCK, people[mover], server, left.until)
            assert isinstance(decision, Forfeit), "no missing reminder puts the end off"
            break
        spent = counted_wait(now, move, EVENT_CLOCK, people[mover], server)
        seat, now, mover = Seat(mover), move, 1 - mover
        clocks, _ = clocks_after_turn(
            clocks, {Seat(mover)}, {seat}, now, {seat: spent}, EVENT_CLOCK, [(), ()]
        )
    outages = sum((ends - begins + RECOVERY for begins, ends in server.down), timedelta())
    assert left.until - FRIDAY <= 88 * DAY + outages


@given(
    spans,
    spans,
    st.sampled_from(["", "2d,6h", "night", "30d"]),
    st.sampled_from(ZONES),
    st.tuples(st.integers(0, 9), st.integers(0, 25), st.integers(1, 30), st.integers(0, 3)),
    st.booleans(),
    st.booleans(),
    minutes,
)
def test_no_look_at_a_bank_is_promised_in_the_past_and_the_first_is_early_enough(
    away: list,
    down: list,
    wish: str,
    zone: str,
    days: tuple[int, int, int, int],
    weekdays: bool,
    digest: bool,
    now: int,
) -> None:
    nag, forfeit, total, increment = days
    terms = Terms(nag, forfeit, total, increment, 30, weekdays=weekdays)
    person = Person.of(zone, wish, moments(away), digest=digest)
    server = Server(moments(down), FRIDAY - DAY)
    present = FRIDAY + now * MINUTE
    decision = decide(SeatClock(FRIDAY), terms, person, server, present)
    _, first = clocks_after_turn((SeatClock(),), {Seat(0)}, (), FRIDAY, {}, terms, [person.before])
    assert first is not None
    if isinstance(decision, Wait):
        assert decision.until is not None
        assert decision.until > present
        assert first <= decision.until
    else:
        assert first <= present
    if isinstance(decision, Remind):
        assert clock_after_reminder(SeatClock(FRIDAY), terms, person, server, present) is not None
