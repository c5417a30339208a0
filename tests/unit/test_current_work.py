"""The work that a process has in hand is visible to other processes, also after its death."""

from __future__ import annotations

import threading

import pytest

from pbmserv.stages import current_work
from pbmserv.stages import pauses as pauses_module
from pbmserv.stages.current_work import NONE, CurrentWork
from pbmserv.stages.pauses import Pauses


def test_a_mail_that_is_stuck_is_seen_beside_others_that_come_and_go() -> None:
    current = CurrentWork()
    begun, over = threading.Event(), threading.Event()

    def stuck() -> None:
        current.begin(7)
        begun.set()
        over.wait(60)
        current.finish()

    thread = threading.Thread(target=stuck)
    thread.start()
    assert begun.wait(60)
    current.begin(8)
    assert sorted(current.all()) == [7, 8]
    assert current.longest()[0] == 7
    current.finish()
    assert current.all() == [7]
    over.set()
    thread.join()
    assert current.longest() == (NONE, 0.0)


def test_work_has_not_taken_long_because_the_machine_was_asleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1_000.0]
    for module in (current_work, pauses_module):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    pauses, current = Pauses(), CurrentWork()
    current.begin(7)
    for _ in range(20):
        now[0] += 0.25
        seen = current.longest(pauses.look())
    assert seen == (7, 5.0)
    now[0] += 3_600.0
    assert current.longest(pauses.look()) == (7, 0.0)
    for _ in range(20):
        now[0] += 0.25
        seen = current.longest(pauses.look())
    assert seen == (7, 5.0)  # it is stuck indeed
