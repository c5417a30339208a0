"""Bots that search think less here, so that all of them play to the end in no time."""

from __future__ import annotations

import pytest

from pbmserv.game.search import Effort


@pytest.fixture(autouse=True)
def _little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Effort, "share", 0.004)
