"""Stages ask each other, and need not wait for an answer at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from multiprocessing.connection import Listener
from pathlib import Path

import pytest

from pbmserv.errors import ServerFault
from pbmserv.stages.link import Answering, Asking, Unanswered

PATIENCE_S = 20.0


class Other:
    """The other stage: notes what it was asked, and waits with some answers."""

    def __init__(self, path: Path) -> None:
        self.asked: list[int] = []
        self.may_answer = threading.Event()
        self.answering = Answering(path, {"twice": self._twice, "slow": self._slow})
        self.answering.start()

    def _twice(self, number: int) -> int:
        self.asked.append(number)
        if number < 0:
            raise ServerFault("only what is there")
        return 2 * number

    def _slow(self, number: int) -> int:
        assert self.may_answer.wait(PATIENCE_S)
        return self._twice(number)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Other]:
    found = Other(tmp_path / "other.sock")
    yield found
    found.may_answer.set()
    found.answering.close()


@pytest.fixture
def asking(tmp_path: Path, other: Other) -> Asking:
    return Asking(tmp_path / "other.sock", PATIENCE_S)


def test_an_answer_may_be_waited_for_later(other: Other, asking: Asking) -> None:
    answered = asking.begin("slow", 1)
    assert other.asked == []
    other.may_answer.set()
    assert answered() == 2
    assert answered() == 2
    assert other.asked == [1]


def test_each_question_gets_its_own_answer_in_whatever_order_they_are_waited_for(
    asking: Asking,
) -> None:
    first, second = asking.begin("twice", 1), asking.begin("twice", 2)
    assert asking.ask("twice", 3) == 6
    assert second() == 4
    assert first() == 2


def test_a_fault_is_raised_by_whoever_waits_for_it_and_by_no_other(asking: Asking) -> None:
    wrong = asking.begin("twice", -1)
    assert asking.ask("twice", 4) == 8
    with pytest.raises(ServerFault, match="only what is there"):
        wrong()


def test_a_stage_that_goes_away_answers_nothing_more(other: Other, tmp_path: Path) -> None:
    asking = Asking(tmp_path / "other.sock", 0.0)
    assert asking.ask("twice", 1) == 2
    answered = asking.begin("slow", 2)
    other.answering.close()
    (tmp_path / "other.sock").unlink(missing_ok=True)
    other.may_answer.set()
    assert answered() == 4  # what was asked before is finished
    gone = Asking(tmp_path / "other.sock", 0.0)
    with pytest.raises(Unanswered):
        gone.begin("twice", 3)


def test_an_answer_that_is_never_given_is_missed_where_it_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "dying.sock"
    with Listener(str(path), "AF_UNIX") as dying:

        def die() -> None:
            with dying.accept() as asked:
                asked.recv()

        thread = threading.Thread(target=die)
        thread.start()
        asking = Asking(path, 0.0)
        answered = asking.begin("twice", 1)
        thread.join()
    with pytest.raises(Unanswered, match="dying has gone away"):
        answered()
    with pytest.raises(Unanswered, match="dying is not there"):
        asking.begin("twice", 2)
