"""Processor time of the heaviest mails that are allowed, and of their letters."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.table import Line, at_most
from tests.hostile.heavy_mails import HEAVY, cost_of
from tests.hostile.heavy_world import World, world

MOST_S = 0.5
"""Seconds of processor time for a mail with its letters, without argon2, which has threads and a
limit of its own."""


def measure(part: str) -> list[Line]:
    """Return the line about the heaviest of the mails with *part* in their names."""
    names = [name for name in HEAVY if part in name]
    with _fresh_world() as w:
        for name in names:  # a first time, in which templates are compiled
            cost_of(w, name)
    with _fresh_world() as w:
        cost_of(w, "an ordinary move")
        seconds = {name: cost_of(w, name).whole for name in names}
    worst = max(seconds, key=seconds.__getitem__)
    what = f"heaviest of {len(seconds)} mails, with its letters, processor time"
    return [at_most(what, MOST_S, seconds[worst], "s", worst)]


@contextmanager
def _fresh_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="pbmserv-heavy-") as folder, world(Path(folder)) as w:
        gc.freeze()  # as `serve.py` does: to look through all modules takes a tenth of a second
        yield w
