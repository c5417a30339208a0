"""Values that are kept many times over stay small."""

from __future__ import annotations

import tracemalloc

import pytest
from limits import parse

from pbmserv.clock import SystemClock
from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.service.limits.windows import Windows


@pytest.mark.slow
def test_a_window_takes_eight_octets_for_a_hit_and_little_for_itself() -> None:
    windows, limit, count = Windows(SystemClock()), parse("100/hour"), 200
    tracemalloc.start()
    try:
        for number in range(count):
            windows.hit(limit, str(number))
        begun, _ = tracemalloc.get_traced_memory()
        for _ in range(63):
            for number in range(count):
                windows.hit(limit, str(number))
        ended, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert begun < 500 * count
    assert ended - begun < 63 * 12 * count


def test_moves_that_read_alike_are_kept_as_one_text() -> None:
    def probed(seed: bytes) -> object:
        position = opening(GAME, GameRecord("blackbox", GAME.info.rules_version, 2, (), seed))
        for number, text in enumerate(("B1,D2,G3,C5", "A1,C4,E5,G2", "A"), 1):
            position = position.play(Ply(number, Seat((number + 1) % 2), text, free=False))
        return position.step.public

    assert probed(bytes(16)) is probed(b"x" * 16)
