"""Lanes: whatever comes and ends in whatever order, each mail has its turn, once and in order."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pbmserv.mail.envelope import Envelope
from pbmserv.stages import lanes as module
from pbmserv.stages.lanes import (
    HEAVY_S,
    MOST_DEATHS,
    REST_S,
    WARY_S,
    Lane,
    Lanes,
    Task,
    blamed,
)
from pbmserv.store.delivery.arrivals import Arrival

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = "abc"
PATIENCE_S = 20


def task(number: int, lane: str = "a") -> Task:
    return Task(Arrival("mail", Envelope("", "", b""), lane, NOW, id=number), 0.0)


def taken(lanes: Lanes) -> tuple[Lane, Task] | None:
    lane = next(lanes.in_turn(), None)
    return None if lane is None else (lane, lane.waiting.popleft())


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("comes"), st.sampled_from(NAMES)),
        st.tuples(st.just("begins"), st.just(0)),
        st.tuples(st.just("ends"), st.integers(0, 5)),
        st.tuples(st.just("again"), st.integers(0, 5)),
    ),
    max_size=80,
)


FORGOTTEN_WHILE_ONE_IS_IN_HAND: list[tuple[str, object]] = [
    *(("comes", "a"), ("comes", "a"), ("begins", 0), ("begins", 0)),
    *(("ends", 0), ("comes", "a"), ("ends", 0)),
]


@given(STEPS, st.sampled_from((0.0, 0.001, 1.0)))
@example(FORGOTTEN_WHILE_ONE_IS_IN_HAND, 0.001)
def test_each_mail_has_its_turn(steps: list[tuple[str, object]], took: float) -> None:
    lanes, begun, order = Lanes(), list[tuple[Lane, Task]](), list[Task]()
    number = 0

    def begin() -> bool:
        found = taken(lanes)
        if found is not None:
            begun.append(found)
        return found is not None

    def end(at: int, *, again: bool) -> None:
        lane, one = begun.pop(at % len(begun))
        lane.used_s += took
        if again:
            lanes.put_back(one)
        else:
            order.append(one)
        lanes.over(lane)

    for step, value in steps:
        if step == "comes":
            number += 1
            lanes.add(task(number, str(value)))
        elif step == "begins":
            begin()
        elif begun and isinstance(value, int):
            end(value, again=step == "again")
    while begun or begin():
        end(0, again=False)
    assert sorted(one.arrival.id for one in order) == list(range(1, number + 1))


def test_those_of_one_lane_begin_in_their_order_also_when_one_is_put_back() -> None:
    lanes = Lanes()
    for number in (1, 2, 3):
        lanes.add(task(number))
    first, second = taken(lanes), taken(lanes)
    assert first is not None
    assert second is not None
    lanes.put_back(second[1])
    lanes.put_back(first[1])
    found = [taken(lanes) for _ in range(3)]
    assert [one[1].arrival.id for one in found if one] == [1, 2, 3]


def test_the_lane_that_has_used_less_is_next() -> None:
    lanes = Lanes()
    for number in range(1, 7):
        lanes.add(task(number, "much" if number < 4 else "little"))
    names = []
    for _ in range(6):
        found = taken(lanes)
        assert found is not None
        found[0].used_s += 1.0 if found[0].name == "much" else 0.1
        names.append(found[0].name)
    assert names == ["much", "little", "little", "little", "much", "much"]


def test_where_more_comes_than_can_be_done_nobody_waits_for_all_that_come_later() -> None:
    """One with several mails waits for those that others had waiting, and for no newcomer."""
    lanes = Lanes()
    order = list[int]()
    for number in (1, 2, 3):
        lanes.add(task(number, "several"))
    for number in range(4, 200):
        for late in (2 * number, 2 * number + 1):
            lanes.add(task(late, f"newcomer {late}"))
        found = taken(lanes)
        assert found is not None
        lane, one = found
        lane.used_s += 0.001
        lanes.over(lane)
        order.append(one.arrival.id)
    assert order[:3] == [1, 2, 3]
    assert order[3:] == sorted(order[3:])


def test_in_one_round_each_lane_begins_once_before_any_begins_twice() -> None:
    lanes = Lanes()
    for number in range(1, 51):
        lanes.add(task(number, "flood"))
    lanes.add(task(51, "late"))
    begun = [lane.waiting.popleft().arrival.id for lane in lanes.in_turn()]
    assert begun == [1, 51, *range(2, 51)]


def test_who_has_sent_heavy_mails_lets_others_be_committed_and_fetched_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [1_000.0]
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    lanes = Lanes()
    lanes.rest_s = REST_S
    for number in (1, 2):
        lanes.add(task(number, "much"))
    much, _ = taken(lanes) or pytest.fail("nobody knows yet what it takes")
    much.used_s = much.heaviest_s = 2 * HEAVY_S
    lanes.over(much)

    lanes.add(task(3, "little"))
    in_turn = lanes.in_turn()
    little = next(in_turn)
    little.waiting.popleft()
    assert (little.name, next(in_turn, None)) == ("little", None)  # in no group with it
    lanes.over(little)
    assert lanes.pause(9.0) == 9.0
    assert taken(lanes) is None
    assert lanes.pause(9.0) == REST_S

    for number in range(4, 8):  # however many others come meanwhile
        clock[0] += REST_S / 4
        lanes.add(task(number, f"late {number}"))
        found = taken(lanes)
        assert found is not None
        assert found[1].arrival.id == number
        lanes.over(found[0])
    assert taken(lanes) == (much, task(2, "much"))
    assert lanes.pause(9.0) == 9.0


def test_who_was_there_when_play_died_waits_and_is_tried_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lanes = Lanes()
    later = perf_counter() + WARY_S
    for number, (deaths, lane) in enumerate(((1, "a"), (MOST_DEATHS, "b"), (0, "c"))):
        lanes.add(Task(task(number, lane).arrival, 0.0, deaths=deaths))
    begun = [taken(lanes) for _ in range(3)]
    assert [one[0].name for one in begun if one] == ["b", "c"]
    monkeypatch.setattr("pbmserv.stages.lanes.perf_counter", lambda: later)
    last = taken(lanes)
    assert last is not None
    assert last[1].may_kill
    assert taken(lanes) is None


def test_a_second_death_alone_clears_those_that_were_beside_it() -> None:
    first = blamed({}, [3, 5, 8])
    assert first == {3: 1, 5: 1, 8: 1}
    assert blamed(first, [5]) == {5: 2}
    assert blamed(first, [5, 9]) == {3: 1, 5: 2, 8: 1, 9: 1}  # either of the two may have done it
    assert blamed(first, [9]) == {3: 1, 5: 1, 8: 1, 9: 1}  # that one says nothing about the others
    assert blamed({5: 2, 6: 1, 7: 2}, [6]) == {5: 2, 6: 2, 7: 2}
