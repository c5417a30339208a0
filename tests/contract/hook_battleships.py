"""Facts about Battleships for the contract suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng, Table
from pbmserv.engine.types import Seat
from pbmserv.games.battleships import FLEET, Waters, placements, random_fleet

OPTIONS = [(), ("-salvo", "-apart")]
GARBAGE = "abcj15678910 -,random"
TEXTS = ("random", "a1", "j10 j9", "a1-a5", "a1-a5 b1-b4 c1-c3 d1-d3 e1-e2")


def alternatives(table: Table, seat: Seat | None) -> Iterator[Table]:
    """The same board with other ships where the seat cannot know of them."""
    if table.outcome is not None:
        return
    dice = CountedRng(Rng(b"other", table.used))
    for owner, waters in enumerate(table.state):
        if owner == seat or not waters.is_ready:
            continue
        for _ in range(3):
            ships = _other_ships(waters, dice)
            if ships != waters.ships:
                state = list(table.state)
                state[owner] = replace(waters, ships=ships)
                yield replace(table, state=tuple(state))


def _other_ships(waters: Waters, dice: CountedRng) -> tuple[tuple[int, ...], ...]:
    """Ships that have been hit and missed at the same cells, as far as one draw finds them."""
    if not waters.hits and not waters.misses:
        return random_fleet(dice, touching=waters.touching)  # type: ignore[arg-type]
    ships = list(waters.ships)
    for n, (_, length) in enumerate(FLEET):
        if n in waters.sunk or not waters.hits.isdisjoint(ships[n]):
            continue
        others = {cell for k, ship in enumerate(ships) if k != n for cell in ship}
        closed = waters.misses | waters.hits | others
        free = [ship for ship in placements(length) if closed.isdisjoint(ship)]
        ships[n] = dice.choice(free)
    return tuple(ships)
