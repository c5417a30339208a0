"""On two processors post has one, and play the other; the door shares that while clients crowd."""

from __future__ import annotations

import os
import smtplib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest
from processes import PATIENCE_S, Process

from pbmserv.stages.coalescing import CROWDED_S, SOCKETS
from pbmserv.stages.processors import kept_to

ALL = ("door", "play", "post1", "bots", "web")
FREE: dict[str, int] = {}
BOUND = {"door": 0, "play": 0, "post1": 1}


@pytest.mark.parametrize(
    ("stages", "usable", "kept"),
    [
        (ALL, [0, 1], BOUND),
        (ALL, [3, 7], BOUND),
        (ALL, [0], FREE),
        (ALL, [0, 1, 2], FREE),
        ((*ALL, "post2"), [0, 1], FREE),
        (("play", "post1"), [0, 1], FREE),
    ],
)
def test_which_processor_each_keeps_to(
    stages: tuple[str, ...], usable: list[int], kept: dict[str, int]
) -> None:
    for name in stages:
        here = [usable[kept[name]]] if name in kept else usable
        assert kept_to(name, stages, usable) == here


def test_a_running_server_keeps_to_them(tmp_path: Path) -> None:
    """Where this machine has two; on any other each process goes wherever the test may go."""
    usable = sorted(os.sched_getaffinity(0))
    with Process(tmp_path, f"sqlite:///{tmp_path}/pbmserv.sqlite3", web="127.0.0.1:0") as server:
        stages = server.stages()
        assert stages.keys() >= {"door", "play", "post1", "web"}, stages

        def places() -> dict[str, list[int]]:
            return {name: sorted(os.sched_getaffinity(child)) for name, child in stages.items()}

        bound = {name: kept_to(name, tuple(stages), usable) for name in stages}
        assert places() == bound | {"door": usable}
        address = "127.0.0.1", server.port

        def are_placed(door: list[int], clients: int) -> bool:
            with ExitStack() as stack:
                here = [stack.enter_context(smtplib.SMTP(*address)) for _ in range(clients)]
                for client in 2 * here:  # each by itself, as fast as they are answered
                    assert client.noop()[0] == 250
            return places() == bound | {"door": door}

        _wait_until(lambda: are_placed(bound["door"], 2 * SOCKETS))
        _wait_until(lambda: are_placed(usable, 1))


def _wait_until(happened: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE_S
    while not happened():
        assert monotonic() < end
        sleep(CROWDED_S / 4)
