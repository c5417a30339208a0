"""Stages ask each other over a socket: each question gets its own answer or error."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from pbmserv.errors import OperatorError, ServerFault
from pbmserv.stages.messages import PutOffBot, StoreForm
from pbmserv.stages.questions import Answering, Asking, Unanswered

PATIENCE_S = 60


class Other:
    """The other stage: answers a form with a number that the form names, some only when told."""

    def __init__(self, path: Path) -> None:
        self.questions: list[int] = []
        self.may_answer = threading.Event()
        self.answering = Answering(path, {StoreForm: self._store, PutOffBot: self._fail})
        self.answering.start()

    def _store(self, request: StoreForm) -> int:
        kind, number = request.body.decode().split()
        self.questions.append(int(number))
        if kind == "slow":
            assert self.may_answer.wait(PATIENCE_S)
        return 2 * int(number)

    def _fail(self, request: PutOffBot) -> None:
        raise OperatorError("that cannot be done")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Other]:
    stage = Other(tmp_path / "other.sock")
    yield stage
    stage.may_answer.set()
    stage.answering.close()


@pytest.fixture
def asking(tmp_path: Path, other: Other) -> Iterator[Asking]:
    with closing(Asking(tmp_path / "other.sock", PATIENCE_S)) as asking_:
        yield asking_


def form(number: int, kind: str = "quick") -> StoreForm:
    return StoreForm(f"{kind} {number}".encode())


def test_questions_of_many_threads_get_their_own_answers(other: Other, asking: Asking) -> None:
    with ThreadPoolExecutor(8) as pool:
        slow = pool.submit(asking.ask, form(1, "slow"))
        answers = list(pool.map(asking.ask, [form(number) for number in range(100)]))
        assert answers == [2 * number for number in range(100)]
        other.may_answer.set()
        assert slow.result(PATIENCE_S) == 2


def test_an_error_of_the_other_stage_is_raised_here(asking: Asking) -> None:
    with pytest.raises(OperatorError, match="that cannot be done"):
        asking.ask(PutOffBot(1))
    assert asking.ask(form(4)) == 8  # the connection still works


def test_a_stage_that_has_gone_away_and_come_back_is_asked_again(tmp_path: Path) -> None:
    first = Other(tmp_path / "other.sock")
    asking = Asking(tmp_path / "other.sock", 0.0)
    assert asking.ask(form(1)) == 2
    first.answering.close()
    (tmp_path / "other.sock").unlink()
    with pytest.raises(Unanswered, match="other is not there"):
        Asking(tmp_path / "other.sock", 0.0).ask(form(2))
    second = Other(tmp_path / "other.sock")
    assert asking.ask(form(3)) == 6  # over the open connection, or a new one
    asking.close()
    first.answering.wait_for_askers(PATIENCE_S)
    assert asking.ask(form(4)) == 8
    assert second.questions == [4]
    asking.close()
    second.answering.close()


@pytest.mark.parametrize("octets", [b"", b"ok [1", b"nonsense [1]\n", b"ok {}\n", b'ok ["1"]\n'])
def test_a_stage_that_dies_or_talks_nonsense_is_no_answer(tmp_path: Path, octets: bytes) -> None:
    path = tmp_path / "dying.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def die() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(octets)

        thread = threading.Thread(target=die)
        thread.start()
        with closing(Asking(path, 0.0)) as asking, pytest.raises((ServerFault, ValueError)):
            asking.ask(form(1))
        thread.join()
