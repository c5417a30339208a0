"""What is told of players and boards begins behind the door."""

from __future__ import annotations

import pytest
from running import Correspondence


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in
