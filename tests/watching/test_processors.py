"""On two processors post has one, and the door and play share the other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import Process

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
        parent = server.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        found = {}
        for child in children:
            name = Path(f"/proc/{child}/comm").read_text().strip().removeprefix("pbmserv ")
            found[name] = sorted(os.sched_getaffinity(int(child)))
        assert found.keys() >= {"door", "play", "post1", "web"}, found
        assert found == {name: kept_to(name, tuple(found), usable) for name in found}
