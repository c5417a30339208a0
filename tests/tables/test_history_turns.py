"""The number of moves in a history."""

from __future__ import annotations

from pathlib import Path

import pytest
from indoors import PASSWORD, address_of, indoors

pytestmark = pytest.mark.slow

HIDING = "a1,b2,c3,d4"


def test_markers_and_seals_are_no_moves(tmp_path: Path) -> None:
    with indoors(tmp_path) as house:
        house.sign_up("alice", "bob")
        house.send(address_of("alice"), "blackbox challenge alice bob")
        for userid in ("bob", "alice"):
            house.send(address_of(userid), f"blackbox move 1 {userid} {PASSWORD} {HIDING}")
        for free in ("+b2", "!c3", "/b2"):
            house.send(address_of("alice"), f"blackbox move 1 alice {PASSWORD} {free}")
        house.send(address_of("alice"), f"blackbox move 1 alice {PASSWORD} g,+b2")
        house.send(address_of("bob"), f"blackbox resign 1 bob {PASSWORD}")
        (letter,) = house.send(address_of("alice"), "history alice")
        (line,) = (line for line in letter.text.splitlines() if "alice - bob" in line)
        assert line.split()[-1] == "4", "two hidings, one ray, and the end"
