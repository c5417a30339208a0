"""When letters are tried again, and when a relay that is down is asked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.outbound.relay import FAILURES, LIFETIME, LONGEST_PAUSE, SHORTEST_PAUSE, Breaker, delay

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
NEW = timedelta()


@rows(("attempt", "minutes"), [(1, 1), (2, 5), (3, 15), (4, 60), (5, 120), (6, 240), (7, 240)])
def test_the_waits_grow_from_a_minute_to_four_hours(attempt: int, minutes: int) -> None:
    assert delay(attempt, NEW, 0.5) == timedelta(minutes=minutes)


@given(attempt=st.integers(1, 1000), jitter=st.floats(0, 1, exclude_max=True))
def test_jitter_moves_a_wait_by_a_tenth_at_most(attempt: int, jitter: float) -> None:
    usual, moved = delay(attempt, NEW, 0.5), delay(attempt, NEW, jitter)
    assert usual is not None
    assert moved is not None
    assert abs(moved - usual) <= usual * 0.1 + timedelta(microseconds=1)


def test_after_five_days_a_letter_has_failed() -> None:
    assert delay(3, LIFETIME - timedelta(seconds=1), 0.5) is not None
    assert delay(3, LIFETIME, 0.5) is None


def test_a_letter_is_tried_some_thirty_times_in_its_life() -> None:
    age, attempts = NEW, 1
    while (wait := delay(attempts, age, 0.5)) is not None:
        age, attempts = age + wait, attempts + 1
    assert attempts == 36


def open_breaker() -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(NOON)
    return breaker


def test_letters_flow_until_five_failures_in_a_row() -> None:
    breaker = Breaker()
    for _ in range(FAILURES - 1):
        assert not breaker.failed(NOON)
    breaker.answered()
    for _ in range(FAILURES - 1):
        assert not breaker.failed(NOON)
    assert breaker.next_trial is None
    assert breaker.failed(NOON)
    assert not breaker.failed(NOON)
    assert not breaker.grants_trial(NOON)


def test_after_the_pause_one_letter_is_the_trial() -> None:
    breaker = open_breaker()
    later = NOON + SHORTEST_PAUSE
    assert breaker.next_trial == later
    assert breaker.grants_trial(later)
    assert not breaker.grants_trial(later)
    assert breaker.answered()
    assert not breaker.answered()
    assert breaker.next_trial is None
    assert breaker.grants_trial(later)


def test_each_trial_that_fails_doubles_the_pause_up_to_a_quarter_of_an_hour() -> None:
    breaker, pauses = open_breaker(), []
    for _ in range(8):
        trial = breaker.next_trial
        assert trial is not None
        assert breaker.grants_trial(trial)
        breaker.failed(trial)
        after = breaker.next_trial
        assert after is not None
        pauses.append(after - trial)
    assert pauses[:4] == [SHORTEST_PAUSE * n for n in (2, 4, 8, 16)]
    assert set(pauses[5:]) == {LONGEST_PAUSE}


def test_a_trial_without_a_letter_is_not_used_up() -> None:
    breaker = open_breaker()
    later = NOON + SHORTEST_PAUSE
    assert breaker.grants_trial(later)
    breaker.untried(later)
    assert breaker.grants_trial(later)
    breaker.answered()
    breaker.untried(later)
    assert breaker.next_trial is None
