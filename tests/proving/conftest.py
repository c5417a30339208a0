"""Tests of provable chance play all games of ours, like the tests of those games."""

import blackbox_alone
import pytest

from pbmserv.engine import registry


@pytest.fixture(autouse=True)
def every_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "announced", blackbox_alone.every_game)
