"""Lanes: whatever comes and ends in whatever order, each mail has its turn, once and in order."""

from __future__ import annotations

import gc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.mail.envelope import Envelope
from pbmserv.service.core.job_result import NOTHING, Job, Receipt
from pbmserv.stages import lanes as module
from pbmserv.stages.current_work import blamed
from pbmserv.stages.lanes import FORGET_EVERY, HEAVY_S, Lane, Lanes
from pbmserv.stages.tasks import Task
from pbmserv.store.delivery.arrivals import Arrival

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = "abc"


class WaitingTask(Task):
    """A task that is only ordered, never carried out."""

    def begin(self) -> Job:
        return lambda _: NOTHING

    def put_off(self, _: BaseException) -> None:
        raise NotImplementedError

    def give_up(self, _: BaseException) -> Job:
        return self.begin()

    def give_up_as_deadly(self) -> Job:
        return self.begin()

    def note_settled(self, receipt: Receipt, ms: float) -> None:
        raise NotImplementedError


def task(number: int, lane: str = "a", deaths: int = 0) -> Task:
    arrival = Arrival("mail", Envelope("", "", b""), lane, NOW, id=number)
    return WaitingTask(arrival, deaths)


def begin(lanes: Lanes) -> Task | None:
    """Begin the mail that is next, `None` if no lane is ready."""
    ready = lanes.ready()
    return lanes.begin(ready[0]) if ready else None


def end(lanes: Lanes, mail: Task | None, took_s: float = 0.0) -> None:
    """End a mail that took the writer so much processor time."""
    assert mail is not None
    mail.took_s = took_s
    lanes.charge(mail, took_s)
    lanes.end(mail)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of lanes that are made from now on; the test moves them."""
    seconds = [1_000.0]
    monkeypatch.setattr(module, "perf_counter", lambda: seconds[0])
    return seconds


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("comes"), st.sampled_from(NAMES)),
        st.tuples(st.just("begins"), st.just(0)),
        st.tuples(st.just("ends"), st.integers(0, 5)),
        st.tuples(st.just("again"), st.integers(0, 5)),
    ),
    max_size=80,
)


@given(STEPS, st.sampled_from((0.0, 0.001, HEAVY_S)))
def test_each_mail_has_its_turn_once_and_in_the_order_of_its_lane(
    steps: list[tuple[str, object]], took_s: float
) -> None:
    lanes, under_way, done = Lanes(), list[Task](), list[Task]()
    number = 0
    for step, value in steps:
        if step == "comes":
            number += 1
            lanes.add(task(number, str(value)))
        elif step == "begins":
            if (mail := begin(lanes)) is not None:
                under_way.append(mail)
        elif under_way and isinstance(value, int):
            mail = under_way.pop(value % len(under_way))
            if step == "again":
                lanes.put_back(mail)
            else:
                end(lanes, mail, took_s)
                done.append(mail)
        names = [mail.arrival.lane for mail in under_way]
        assert len(names) == len(set(names))  # one of each lane
    while under_way or (mail := begin(lanes)) is not None:
        mail = under_way.pop() if under_way else mail
        end(lanes, mail, took_s)
        done.append(mail)
    assert sorted(mail.arrival.id for mail in done) == list(range(1, number + 1))
    for name in NAMES:
        ids = [mail.arrival.id for mail in done if mail.arrival.lane == name]
        assert ids == sorted(ids)


def test_a_mail_that_begins_again_stays_the_first_of_its_lane() -> None:
    lanes = Lanes()
    for number in (1, 2):
        lanes.add(task(number))
    first = begin(lanes)
    assert first is not None
    lanes.put_back(first)
    assert begin(lanes) is first


def test_an_overloaded_play_lets_no_mail_wait_for_all_later_ones() -> None:
    """A lane with several mails waits for mails that came before, and for no newcomer."""
    lanes = Lanes()
    order = list[int]()
    for number in (1, 2, 3):
        lanes.add(task(number, "several"))
    for number in range(4, 200):
        for late in (2 * number, 2 * number + 1):
            lanes.add(task(late, f"newcomer {late}"))
        mail = begin(lanes)
        end(lanes, mail, 0.001)
        assert mail is not None
        order.append(mail.arrival.id)
    assert order[:3] == [1, 2, 3]
    assert order[3:] == sorted(order[3:])


def test_a_mail_with_which_play_has_died_comes_after_those_that_wait() -> None:
    lanes = Lanes()
    lanes.add(task(1, "deadly", deaths=1))
    lanes.add(task(2, "other"))
    assert [lane.name for lane in lanes.ready()] == ["other", "deadly"]


def test_a_sender_who_writes_no_more_is_forgotten() -> None:
    """Play looks at all lanes in each round, so those of idle senders must not remain."""
    lanes = Lanes()
    lanes.add(task(1, "once"))
    end(lanes, begin(lanes), 0.015)
    for number in range(2, FORGET_EVERY + 2):
        lanes.add(task(number))
        end(lanes, begin(lanes))
    kept = [lane.name for lane in gc.get_objects() if isinstance(lane, Lane)]
    assert "once" not in kept


def test_heavy_lanes_take_turns_and_rest_as_long_as_the_mail_before_took(
    clock: list[float],
) -> None:
    lanes = Lanes()
    for number, name in enumerate("aabb", 1):
        lanes.add(task(number, name))
    first, second = begin(lanes), begin(lanes)  # what they take is known afterwards
    end(lanes, first, 10 * HEAVY_S)
    end(lanes, second, 20 * HEAVY_S)
    assert lanes.rest_s() == pytest.approx(20 * HEAVY_S)
    assert begin(lanes) is None

    for number in range(5, 9):  # others do not wait, and however many come, the rest ends
        clock[0] += 5 * HEAVY_S - 0.001
        lanes.add(task(number, f"light {number}"))
        light = begin(lanes)
        assert light is not None
        assert light.arrival.id == number
        end(lanes, light)
    clock[0] += 0.01
    assert lanes.rest_s() == 0.0
    heavy = begin(lanes)
    assert heavy is not None
    assert heavy.arrival.lane == "a"
    assert begin(lanes) is None  # the other heavy lane waits for it
    end(lanes, heavy)
    assert begin(lanes) is not None


def test_a_second_death_alone_clears_those_that_were_beside_it() -> None:
    first = blamed({}, [3, 5, 8])
    assert first == {3: 1, 5: 1, 8: 1}
    assert blamed(first, [5]) == {5: 2}
    assert blamed(first, [5, 9]) == {3: 1, 5: 2, 8: 1, 9: 1}  # either of the two may have done it
    assert blamed(first, [9]) == {3: 1, 5: 1, 8: 1, 9: 1}  # that one says nothing about the others
    assert blamed({5: 2, 6: 1, 7: 2}, [6]) == {5: 2, 6: 2, 7: 2}
