"""A server with players of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blackbox_alone import every_game
from indoors import Indoors, indoors
from seasons import Field

from pbmserv.engine import registry

NAMES = ("ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ivy", "jack")


@pytest.fixture(autouse=True)
def play_every_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "announced", every_game)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as server:
        yield server


@pytest.fixture
def field(server: Indoors) -> Callable[[int], Field]:
    """Return a function that makes a field of so many players."""
    return lambda count: Field(server, NAMES[:count])
