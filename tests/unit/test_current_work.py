"""The work that a process has in hand is visible to other processes, also after its death."""

from __future__ import annotations

import pytest

from pbmserv.stages import current_work
from pbmserv.stages import pauses as pauses_module
from pbmserv.stages.current_work import CurrentWork
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
