"""Moving windows of the `limits` library that go by the server's clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from limits import RateLimitItemPerMinute, parse
from limits.strategies import MovingWindowRateLimiter
from running import MovableClock

from pbmserv.service.limits.clock_storage import MOST_KEYS, ClockStorage

FIVE = RateLimitItemPerMinute(5)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 3)), max_size=40))
def test_no_window_ever_holds_more_than_its_limit(waits: list[tuple[int, int]]) -> None:
    clock = MovableClock()
    limiter = MovingWindowRateLimiter(ClockStorage(clock))
    counted: list[float] = []
    for seconds, cost in waits:
        clock.move(seconds=seconds)
        now = clock.now().timestamp()
        in_window = [at for at in counted if at > now - 60]
        has_room = len(in_window) + cost <= 5
        assert limiter.test(FIVE, "alice", cost=cost) is has_room
        assert limiter.hit(FIVE, "alice", cost=cost) is has_room
        counted += [now] * cost * has_room


def test_many_keys_push_out_the_least_recently_used_one() -> None:
    limiter = MovingWindowRateLimiter(ClockStorage(MovableClock()))
    once = parse("1/day")
    for number in range(MOST_KEYS):
        assert limiter.hit(once, str(number))
    assert not limiter.hit(once, "0")
    assert limiter.hit(once, "one more")
    assert limiter.hit(once, "0")
    assert not limiter.hit(once, "2")
