"""The work that a process has in hand is visible to other processes, also after its death."""

from __future__ import annotations

import os

import pytest

from pbmserv.stages import current_work
from pbmserv.stages import pauses as pauses_module
from pbmserv.stages.current_work import MOST_KILLS, CurrentWork, Kills
from pbmserv.stages.pauses import Pauses


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


def test_processes_of_a_kind_know_the_work_that_one_was_killed_over() -> None:
    letters = Kills()
    posts = [CurrentWork(letters) for _ in range(2)]
    letters.note(7)
    letters.note(8)
    letters.note(7)
    pid = os.fork()
    if not pid:
        os._exit(posts[1].killed_over()[7])
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
    assert posts[0].killed_over() == {7: 2, 8: 1}
    for number in range(100, 100 + MOST_KILLS):
        letters.note(number)
    assert (letters.times().get(7), letters.times().get(100)) == (None, 1)  # the oldest gave way
