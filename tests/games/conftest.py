"""Servers that play games of `pbmserv.game`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from running import Running, start

from pbmserv.engine.registry import Registry


@pytest.fixture
def playing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Running]]:
    """Start a server that plays these games."""
    with ExitStack() as stack:

        def begin(*games: Any, **settings: Any) -> Running:
            monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
            return stack.enter_context(start(database_url, tmp_path, **settings))

        yield begin
