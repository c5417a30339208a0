"""A server with players of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blackbox_alone import every_game
from indoors import Indoors, indoors
from prepared_servers import Prepared, prepare, start_copy
from seasons import GAME, Field

from pbmserv.engine import registry
from pbmserv.store.tables.events import EventStatus

NAMES = ("ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ivy", "jack")


@pytest.fixture(autouse=True)
def play_every_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "announced", every_game)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as server:
        yield server


@pytest.fixture
def either(tmp_path: Path, database_url: str) -> Iterator[Indoors]:
    with indoors(tmp_path, database_url) as server:
        yield server


@pytest.fixture
def field(server: Indoors) -> Callable[[int], Field]:
    """Return a function that makes a field of so many players."""
    return lambda count: Field(server, NAMES[:count])


@pytest.fixture(scope="session")
def season_prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """A server with five players and their first season, which has begun."""
    prepared: list[Prepared] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "announced", every_game)
        with prepare(tmp_path_factory.mktemp("season"), prepared) as server:
            players = Field(server, NAMES[:5])
            players.all_say(f"league join {GAME}")
            players.pass_until(1, EventStatus.RUNNING)
    (season,) = prepared
    return season


@pytest.fixture
def season(season_prepared: Prepared, tmp_path: Path) -> Iterator[Field]:
    """Five players whose first season, event 1, has begun."""
    with start_copy(season_prepared, tmp_path) as server:
        yield Field(server, NAMES[:5], have_signed_up=True)
