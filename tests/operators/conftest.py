"""A server with three players, for deeds of operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import Indoors, indoors


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol")
        yield server
