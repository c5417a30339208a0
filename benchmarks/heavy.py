"""Processor time of the heaviest mails that are allowed, and of their letters.

`python -m benchmarks.heavy [PART OF A NAME ...]` prints a line for each mail.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.heavy_mails import HEAVY
from benchmarks.heavy_world import Cost, World, address, mail, world
from benchmarks.table import Line, at_most

MOST_S = 0.5
"""Seconds of processor time for a mail with its letters, without argon2, which has threads and a
limit of its own."""


def cost_of(w: World, name: str) -> Cost:
    """Return the cost of one of `HEAVY`."""
    w.tidy()
    made = HEAVY[name](w)
    return w.post(address("alice"), mail(made.subject, made.body, parts=made.parts), made.to)


def costs(names: Collection[str]) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each named mail, in a server of their own."""
    measured = ["an ordinary move", *names]
    with _fresh_world() as w:
        for name in measured:  # a first time, in which templates are compiled
            cost_of(w, name)
    with _fresh_world() as w:
        for name in measured:
            cost = cost_of(w, name)
            if name in names:
                yield name, cost


@contextmanager
def _fresh_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="pbmserv-heavy-") as folder, world(Path(folder)) as w:
        yield w


def measure(part: str) -> list[Line]:
    """Return the line about the heaviest of the mails with *part* in their names."""
    cost = dict(costs([name for name in HEAVY if part in name]))
    worst = max(cost, key=lambda name: cost[name].whole)
    what = f"heaviest of {len(cost)} mails, with its letters, processor time"
    return [at_most(what, MOST_S, cost[worst].whole, "s", worst)]


def main(parts: Collection[str]) -> None:
    """Print the costs of the mails with one of *parts* in their names."""
    print("   taken  letters")
    for name, cost in costs([n for n in HEAVY if not parts or any(p in n for p in parts)]):
        print(f"{cost.taken:8.3f} {cost.letters:8.3f}  {name} ({cost.made} letters)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
