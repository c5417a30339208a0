"""A browser for each module, and a server on which alice and bob play."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import chromium as browser
from playwright.sync_api import Browser
from running import Running, start


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """While it is there, no other event loop runs in this thread."""
    with browser() as started:
        yield started


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(f"sqlite:///{tmp_path}/game.sqlite3", tmp_path, signup="open") as running:
        for name in ("alice", "bob"):
            running.send(f"{name}@players.example", f"signup {name} wonder-land")
        yield running
