"""A browser for all tests of this folder, and a server on which alice and bob play."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from chromium import chromium as browser
from playwright.sync_api import Browser
from running import Running, start

_open = ExitStack()


@cache
def _started() -> Browser:
    return _open.enter_context(browser())


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """While it is there, no other event loop runs in this thread."""
    return _started()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """The tests of other folders have event loops of their own."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            _open.close()
            _started.cache_clear()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, signup="open") as running:
        for name in ("alice", "bob"):
            running.send(f"{name}@players.example", f"signup {name} wonder-land")
        yield running
