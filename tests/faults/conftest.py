"""The two that look on while a server's process comes and goes: its database and its relay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from processes import Sink

from pbmserv.store.core.database import Database


@pytest.fixture
def sink() -> Iterator[Sink]:
    relay = Sink()
    yield relay
    relay.close()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The database as somebody else sees it."""
    opened = Database(database_url)
    yield opened
    opened.close()
