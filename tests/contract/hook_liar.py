"""Facts about Liar's dice for the contract suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pbmserv.engine.rng import Rng
from pbmserv.engine.table import Table
from pbmserv.engine.types import Seat

OPTIONS = [(), ("-dice=2", "-wild=no")]
GARBAGE = "123456x fiveslart"
TEXTS = ("liar", "3 fives", "2x2", "nine sixes")


def alternatives(table: Table, seat: Seat | None) -> Iterator[Table]:
    """The same board with other dice of the others."""
    if table.outcome is not None:
        return
    rolls = Rng(b"other", table.used)
    for _ in range(3):
        dice = tuple(
            hand if n == seat else tuple(sorted(1 + rolls.below(6) for _ in hand))
            for n, hand in enumerate(table.state.dice)
        )
        if dice != table.state.dice:
            yield replace(table, state=replace(table.state, dice=dice))
