"""What the heaviest mails take: from their octets to the 250, and to make their letters.

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
"""Seconds of processor time for any mail with all that it leads to, but for argon2, which has
threads and a bound of its own (`service.vetting`)."""


def cost_of(w: World, name: str) -> Cost:
    """What one of them takes."""
    w.tidy()
    made = HEAVY[name](w)
    return w.post(address("alice"), mail(made.subject, made.body, parts=made.parts), made.to)


def costs(names: Collection[str]) -> Iterator[tuple[str, Cost]]:
    """What each of these takes, in a server of their own."""
    known = ["an ordinary move", *names]
    with _fresh_world() as w:
        for name in known:  # templates are compiled once in a server's life
            cost_of(w, name)
    with _fresh_world() as w:
        for name in known:
            found = cost_of(w, name)
            if name in names:
                yield name, found


@contextmanager
def _fresh_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="pbmserv-heavy-") as folder, world(Path(folder)) as w:
        yield w


def measure() -> list[Line]:
    """The mail that takes longest."""
    found = dict(costs(HEAVY))
    worst = max(found, key=lambda name: found[name].whole)
    taken = max(found, key=lambda name: found[name].taken)
    return [
        at_most("6", f"heaviest of {len(found)} mails, with its letters, processor time", MOST_S,
                found[worst].whole, "s", worst),
        at_most("6", "heaviest until it is carried out, processor time", MOST_S,
                found[taken].taken, "s", taken),
    ]  # fmt: skip


def main(parts: Collection[str]) -> None:
    """Print what they take."""
    print("   taken  letters")
    for name, cost in costs([n for n in HEAVY if not parts or any(p in n for p in parts)]):
        print(f"{cost.taken:8.3f} {cost.letters:8.3f}  {name} ({cost.made} letters)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
