"""A share of a processor for each host of a benchmark, by Linux's control groups (root makes them).

So two hosts on one machine have twice what one has, and the load, the relay and the database have
a processor to spare.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TOP = Path("/sys/fs/cgroup")
PERIOD_US = 10_000
"""How often a share is handed out: short beside what a move takes."""


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            for child in task.read_text().split():
                found += family(int(child))
    return found


@contextmanager
def limited(pid: int, cores: float) -> Iterator[None]:
    """Keep a process, and those below it, to *cores* of a processor together.

    Raises:
        OSError: no control group can be made here.
    """
    quota = int(cores * PERIOD_US)
    is_old = (TOP / "cpu" / "cpu.cfs_quota_us").parent.is_dir()
    parent = TOP / "cpu" if is_old else TOP
    if not is_old:
        (TOP / "cgroup.subtree_control").write_text("+cpu")
    group = parent / f"pbmserv-{os.getpid()}-{pid}"
    group.mkdir()
    try:
        if is_old:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
            (group / "cpu.shares").write_text("10240")  # it gets it whatever else runs
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
            (group / "cpu.weight").write_text("1000")
        for one in family(pid):
            (group / "cgroup.procs").write_text(str(one))
        yield
    finally:
        for one in (group / "cgroup.procs").read_text().split():
            (parent / "cgroup.procs").write_text(one)
        group.rmdir()
