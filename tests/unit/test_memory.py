"""What is free goes back to the system, and what is kept many times over is small."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
import weakref
from types import SimpleNamespace

import pytest
from limits import parse

from pbmserv.clock import SystemClock
from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.service.limits.windows import Windows
from pbmserv.stages import processes


def test_a_process_gives_memory_back_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    times, twice = [0], threading.Event()

    def trim(_pad: int) -> None:
        times[0] += 1
        if times[0] == 2:
            twice.set()

    library = SimpleNamespace(malloc_trim=trim)
    monkeypatch.setattr("ctypes.CDLL", lambda _name: library)
    monkeypatch.setattr(processes, "GIVE_BACK_S", 0.001)

    async def run() -> None:
        giving = asyncio.create_task(processes.give_back())
        assert await asyncio.to_thread(twice.wait, 10)
        giving.cancel()

    asyncio.run(run())


def test_connections_that_have_ended_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold each other; where the allocator cannot be asked, too."""

    class Connection:
        def __init__(self) -> None:
            self.handler = self.run

        def run(self) -> None: ...

    monkeypatch.setattr("ctypes.CDLL", lambda _name: SimpleNamespace())
    monkeypatch.setattr(processes, "GIVE_BACK_S", 0.001)

    async def run() -> None:
        found = asyncio.Event()
        ended = weakref.ref(Connection(), lambda _: found.set())
        assert ended() is not None
        giving = asyncio.create_task(processes.give_back())
        await asyncio.wait_for(found.wait(), 10)
        giving.cancel()

    asyncio.run(run())


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
