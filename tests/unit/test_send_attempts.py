"""When letters are tried again, and when a relay that is down is asked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rows import rows

from pbmserv.errors import RelayDown
from pbmserv.outbound.attempts import delay
from pbmserv.outbound.breaker import FAILURES, LONGEST_PAUSE, SHORTEST_PAUSE, Breaker

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@rows(("attempt", "minutes"), [(1, 1), (2, 5), (3, 15), (4, 60), (5, 120), (6, 240), (7, 240)])
def test_the_waits_grow_from_a_minute_to_four_hours(attempt: int, minutes: int) -> None:
    assert delay(attempt, timedelta(), 0.5) == timedelta(minutes=minutes)


DOWN = RelayDown("no connection")


def test_letters_flow_until_five_failures_in_a_row() -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker.record_reply()
        for _ in range(FAILURES - 1):
            breaker.record_failure(DOWN, NOON)
        assert not breaker.is_open
    breaker.record_failure(DOWN, NOON)
    assert breaker.next_trial == NOON + SHORTEST_PAUSE


def test_each_trial_that_fails_doubles_the_pause_up_to_a_quarter_of_an_hour() -> None:
    breaker, pauses = Breaker(), []
    for _ in range(FAILURES):
        breaker.record_failure(DOWN, NOON)
    for _ in range(8):
        assert breaker.next_trial is not None
        now = breaker.next_trial
        breaker.begin_trial(now)
        breaker.record_failure(DOWN, now)
        pauses.append(breaker.next_trial - now)
    assert pauses[:4] == [SHORTEST_PAUSE * 2**n for n in range(1, 5)]
    assert pauses[-1] == LONGEST_PAUSE
