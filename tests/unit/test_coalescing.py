"""The door's loop lets events gather while several clients say much, and keeps nobody else
waiting."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from pbmserv.stages import coalescing
from pbmserv.stages.coalescing import (
    COALESCE_S,
    CROWDED_S,
    EVENTS,
    PHASES_S,
    CoalescingSelector,
)

AT_ONCE_S, TRIAL_S, KEPT_S = PHASES_S


class Clients:
    """Some who talk to a selector, by a clock that moves when the test says so.

    Attributes:
        wait: they say nothing more before they are answered, so that a pause is lost time.
        others_speak: somebody else says something while the selector pauses.
    """

    def __init__(self, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.pauses = 100.0, 0
        self.wait, self.others_speak = False, True
        self.crowds: list[bool] = []
        monkeypatch.setattr(coalescing, "monotonic", lambda: self.now)
        selector = CoalescingSelector(self.crowds.append, self._paused)
        self.selector = stack.enter_context(selector)
        pairs = [socket.socketpair() for _ in range(5)]
        self.wires = [stack.enter_context(ours) for ours, _ in pairs]
        for _, theirs in pairs:
            self.selector.register(stack.enter_context(theirs), selectors.EVENT_READ)

    def _paused(self, seconds: float) -> None:
        assert seconds == COALESCE_S
        self.pauses += 1
        if self.wait:
            self.now += seconds
        elif self.others_speak:
            self.wires[4].send(b"x")

    def crowd(self, seconds: float) -> int:
        """All say something in turn, each in its own time; how often the selector paused."""
        before, end = self.pauses, self.now + seconds
        while self.now < end:
            for number in range(4):
                assert 1 <= self.say(number) <= 2
        return self.pauses - before

    def gather(self) -> None:
        """They have been saying much for so long that events gather."""
        self.crowd(AT_ONCE_S + TRIAL_S + 0.01)
        self.crowds.clear()
        self.pauses = 0

    def say(self, *clients: int, after: float = 0.0005, timeout: float | None = 1.0) -> int:
        """These say something; how many the selector finds, in one look."""
        self.now += after
        for client in clients:
            self.wires[client].send(b"x")
        found = self.selector.select(timeout)
        for key, _ in found:
            assert isinstance(key.fileobj, socket.socket)
            assert key.fileobj.recv(10) == b"x"
        return len(found)


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(stack, monkeypatch)


def test_events_of_several_clients_gather(clients: Clients) -> None:
    """First it is tried whether they would say more if they were served at once."""
    assert clients.crowd(AT_ONCE_S) == 0
    assert clients.crowd(TRIAL_S) > 100
    assert clients.crowds == [], "a trial is no reason to keep to one processor"
    assert clients.crowd(0.1) > 100
    assert clients.crowds == [True]
    assert clients.crowd(KEPT_S - 0.1) > 100
    assert clients.crowd(AT_ONCE_S / 2) < 10, "it is tried again"
    clients.crowd(AT_ONCE_S / 2 + TRIAL_S)
    assert clients.crowd(0.1) > 100
    assert clients.crowds == [True]


def test_clients_that_wait_for_answers_get_them_at_once(clients: Clients) -> None:
    clients.wait = True
    assert clients.crowd(AT_ONCE_S) == 0
    clients.crowd(TRIAL_S)
    assert clients.crowd(KEPT_S - 0.1) < 10
    assert clients.crowds == []


def test_who_speaks_again_after_a_silence_is_tried_anew(clients: Clients) -> None:
    clients.gather()
    clients.now += 60
    clients.wait = True
    assert clients.crowd(AT_ONCE_S) < 10
    clients.crowd(TRIAL_S)
    assert clients.crowd(KEPT_S - 0.1) < 10


def test_one_client_or_two_are_served_at_once(clients: Clients) -> None:
    for number in range(1000):
        clients.say(number % 3)
    assert clients.pauses == 0
    assert clients.crowds == []
    clients.gather()
    clients.others_speak = False
    for number in range(6 * EVENTS):
        clients.say(number % 3)
    assert clients.pauses == 1, "while others are among the newest"


def test_a_client_of_many_sessions_who_waits_for_each_answer_is_served_at_once(
    clients: Clients,
) -> None:
    """Such as one that opens fifty: a pause in which nobody else speaks is not repeated soon."""
    clients.gather()
    clients.others_speak = False
    pauses = clients.crowd(0.1)
    assert 0 < pauses <= 0.1 / 0.0005 / EVENTS + 1


def test_who_speaks_now_and_then_is_served_at_once(clients: Clients) -> None:
    for number in range(1000):
        clients.say(number % 4, after=0.002)
    assert clients.pauses == 0
    assert clients.crowds == []


def test_events_that_come_together_need_not_gather(clients: Clients) -> None:
    for _ in range(1000):
        assert clients.say(0, 1, 2, 3, 4) == 5
    assert clients.pauses == 0
    assert clients.crowds == []


def test_a_loop_with_something_else_to_do_does_it(clients: Clients) -> None:
    clients.gather()
    for timeout in (0.0, COALESCE_S):
        assert clients.say(0, timeout=timeout) == 1
    assert clients.pauses == 0
    assert clients.say(0) == 2
    assert clients.pauses == 1


def test_it_ends_when_they_fall_silent(clients: Clients) -> None:
    clients.gather()
    clients.say(0)
    assert clients.pauses == 1
    clients.say(0, after=1.0)
    assert clients.pauses == 1


def test_a_crowd_is_over_when_one_client_is_left(clients: Clients) -> None:
    clients.gather()
    clients.crowd(0.1)
    clients.others_speak = False
    begun = clients.now
    while clients.crowds == []:
        assert clients.now < begun + 2 * CROWDED_S
        clients.say(0, after=0.01)
    assert clients.crowds == [False]
    assert clients.now > begun + CROWDED_S
    clients.crowd(AT_ONCE_S + TRIAL_S + 0.1)
    assert clients.crowds == [False, True]


def test_a_crowd_that_pauses_for_a_moment_is_still_there(clients: Clients) -> None:
    clients.gather()
    for _ in range(3):
        clients.crowd(0.02)
        clients.now += CROWDED_S / 4
    assert clients.crowds == []


def test_what_a_crowd_says_after_a_long_silence_ends_it_first(clients: Clients) -> None:
    clients.gather()
    clients.say(0, after=2 * CROWDED_S)
    assert clients.crowds == [False]
