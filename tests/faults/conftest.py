"""The relay that looks on while a server's process comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from processes import Sink


@pytest.fixture
def sink() -> Iterator[Sink]:
    relay = Sink()
    yield relay
    relay.close()
