"""Fixtures for tests about players and boards, which need no sockets."""

from __future__ import annotations

import pytest
from running import Correspondence


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in
