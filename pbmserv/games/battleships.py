"""Battleships."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pbmserv.game import (
    LETTERS,
    After,
    Bot,
    Game,
    Grid,
    No,
    Option,
    Piece,
    Result,
    Rng,
    Seat,
    Told,
    win,
)

SIZE = 10
FLEET = (("carrier", 5), ("battleship", 4), ("cruiser", 3), ("submarine", 3), ("destroyer", 2))
CELLS = tuple(f"{LETTERS[n % SIZE]}{n // SIZE + 1}" for n in range(SIZE * SIZE))
PLACE = {name: n for n, name in enumerate(CELLS)}
PIECES = {
    "#": Piece("#", "ship", None, "\N{BLACK SQUARE}"),
    "*": Piece("*", "hit", None, "\N{HEAVY MULTIPLICATION X}"),
    "o": Piece("o", "miss", None, "\N{MIDDLE DOT}"),
}
ANY_CELL = re.compile(r"\b[A-Z][0-9]{1,2}\b", re.IGNORECASE)
SPAN = re.compile(r"\b([A-J])(10|[1-9])\s*(?:-|to|\.\.)\s*([A-J])(10|[1-9])\b", re.IGNORECASE)

Ship = tuple[int, ...]


@dataclass(frozen=True)
class Waters:
    """The waters of one player.

    Attributes:
        ships: the cells of each ship, in the order of `FLEET`; empty if hidden or not placed.
        is_ready: whether the ships are placed.
        hits, misses: shots of the other player.
        sunk: ships that everybody knows.
        salvo: whether a turn has a shot for each ship that is still afloat.
        touching: whether ships may touch each other.
    """

    ships: tuple[Ship, ...] = ()
    is_ready: bool = False
    hits: frozenset[int] = frozenset()
    misses: frozenset[int] = frozenset()
    sunk: tuple[int, ...] = ()
    salvo: bool = False
    touching: bool = True

    @property
    def shots(self) -> frozenset[int]:
        return self.hits | self.misses


State = tuple[Waters, ...]


@cache
def placements(length: int) -> tuple[Ship, ...]:
    """Return all places of a ship."""
    across = [
        tuple(row * SIZE + column + n for n in range(length))
        for row in range(SIZE)
        for column in range(SIZE - length + 1)
    ]
    down = [
        tuple((row + n) * SIZE + column for n in range(length))
        for row in range(SIZE - length + 1)
        for column in range(SIZE)
    ]
    return (*across, *down)


@cache
def around(cell: int) -> frozenset[int]:
    """Return a cell and the eight beside it."""
    x, y = cell % SIZE, cell // SIZE
    return frozenset(
        row * SIZE + column
        for row in range(max(0, y - 1), min(SIZE, y + 2))
        for column in range(max(0, x - 1), min(SIZE, x + 2))
    )


def random_fleet(rng: Rng, *, touching: bool) -> tuple[Ship, ...]:
    """Return ships in random places."""
    while True:
        ships: list[Ship] = []
        taken: set[int] = set()
        for _, length in FLEET:
            free = [ship for ship in placements(length) if taken.isdisjoint(ship)]
            if not free:
                break
            ships.append(rng.choice(free))
            taken.update(ships[-1])
            if not touching:
                taken.update(*map(around, ships[-1]))
        else:
            return tuple(ships)


def spelt(ships: Sequence[Ship]) -> str:
    """Return ships as a move."""
    return " ".join(f"{CELLS[ship[0]]}-{CELLS[ship[-1]]}" for ship in ships)


class Battleships(Game[State]):
    """Sink the other player's ships; the first to sink them all wins.

    First both players hide a fleet in waters of 10 by 10 cells: a carrier (5 cells), a battleship
    (4), a cruiser (3), a submarine (3) and a destroyer (2), each in a row or a column. Write them
    as A1-A5 C3-F3 and so on, in any order, or reply "random".

    Then take turns to fire at a cell. You are told whether you hit, and when a ship is sunk. The
    first player to sink all five ships wins. With -salvo a turn has a shot for each of your ships
    that is still afloat; with -apart ships may not touch each other.
    """

    key, title = "battleships", "Battleships"
    options = (
        Option("salvo", "a shot for each ship that is still afloat", (False, True), False),
        Option("apart", "ships may not touch each other", (False, True), False),
    )
    hidden, draws = True, False
    words = ("random", "to", "and", *(ship for ship, _ in FLEET))

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> State:
        return (Waters(salvo=options["salvo"], touching=not options["apart"]),) * 2

    def first(self, state: State) -> Sequence[Seat]:
        return (0, 1)

    def shots(self, state: State, seat: Seat) -> int:
        """Return the number of shots of a turn."""
        if not state[seat].salvo:
            return 1
        free = SIZE * SIZE - len(state[1 - seat].shots)
        return min(free, len(FLEET) - len(state[seat].sunk))

    def moves(self, state: State, seat: Seat) -> Iterable[str]:
        if not state[seat].is_ready:
            yield "random"
            return
        free = [n for n in range(SIZE * SIZE) if n not in state[1 - seat].shots]
        count = self.shots(state, seat)
        step = 7 if len(free) % 7 else 1  # so that a turn names no cell twice
        for n in range(len(free)):
            yield " ".join(CELLS[free[(n + k * step) % len(free)]] for k in range(count))

    def read(self, state: State, seat: Seat, text: str) -> str:
        if not state[seat].is_ready:
            if text.strip(" .!").casefold() == "random":
                return "random"
            return spelt(self.fleet(text, touching=state[seat].touching))
        matches = re.findall(r"\b(?:([A-J])(10|[1-9])|(10|[1-9])([A-J]))\b", text, re.IGNORECASE)
        cells = [f"{(a or d).upper()}{b or c}" for a, b, c, d in matches]
        count = self.shots(state, seat)
        outside = [name for name in ANY_CELL.findall(text) if name.upper() not in PLACE]
        if outside:
            raise No(f"There is no cell {outside[0].upper()}; cells are A1 to J10.")
        if len(cells) != count or len(set(cells)) != count:
            raise No(f"Name {'a cell' if count == 1 else f'{count} different cells'} to fire at.")
        for name in cells:
            if PLACE[name] in state[1 - seat].shots:
                raise No(f"You have fired at {name} already.")
        return " ".join(cells)

    def fleet(self, text: str, *, touching: bool) -> tuple[Ship, ...]:
        """Return the ships that a text places, the longest first."""
        ships: list[Ship] = []
        for span in SPAN.findall(text):
            ends = sorted(PLACE[f"{span[n].upper()}{span[n + 1]}"] for n in (0, 2))
            step = 1 if ends[0] // SIZE == ends[1] // SIZE else SIZE
            if (ends[1] - ends[0]) % step:
                raise No(f"{CELLS[ends[0]]}-{CELLS[ends[1]]} is neither a row nor a column.")
            ships.append(tuple(range(ends[0], ends[1] + 1, step)))
        ships.sort(key=len, reverse=True)
        if [len(ship) for ship in ships] != [length for _, length in FLEET]:
            lengths = " and ".join(str(len(ship)) for ship in ships)
            named = f"You named ships of {lengths} cells. " if ships else ""
            raise No(
                f"{named}Place ships of 5, 4, 3, 3 and 2 cells in one reply, each such as A1-A5, "
                "or reply random."
            )
        taken: set[int] = set()
        for ship in ships:
            if not taken.isdisjoint(ship):
                raise No(
                    f"The ship {spelt([ship])} {'crosses' if touching else 'touches'} another."
                )
            taken.update(ship)
            if not touching:
                taken.update(*map(around, ship))
        return tuple(ships)

    def play(self, state: State, seat: Seat, move: str, rng: Rng) -> After[State]:
        mine = state[seat]
        if not mine.is_ready:
            if move == "random":
                ships = random_fleet(rng, touching=mine.touching)
            else:
                ships = self.fleet(move, touching=mine.touching)
            after = self.with_waters(state, seat, replace(mine, ships=ships, is_ready=True))
            other = 1 - seat
            reports = [
                Told(f"{{{seat}}} placed the ships: {spelt(ships)}.", [seat]),
                Told(f"{{{seat}}} placed the ships.", [other]),
            ]
            following = [other] if not state[other].is_ready else [0]
            hidden = "the ships"
            return After(after, reports, next=following, secret=hidden, final=True)
        return self.fired(state, seat, [PLACE[name] for name in move.split()])

    def fired(self, state: State, seat: Seat, cells: Sequence[int]) -> After[State]:
        """Carry out the shots of a turn."""
        theirs = state[1 - seat]
        reports = []
        for cell in cells:
            ship = next(
                (n for n, cells_of_ship in enumerate(theirs.ships) if cell in cells_of_ship), None
            )
            if ship is None:
                theirs = replace(theirs, misses=theirs.misses | {cell})
                reports.append(f"{{{seat}}} fired at {CELLS[cell]}: a miss.")
                continue
            theirs = replace(theirs, hits=theirs.hits | {cell})
            if theirs.hits.issuperset(theirs.ships[ship]):
                theirs = replace(theirs, sunk=(*theirs.sunk, ship))
                reports.append(f"{{{seat}}} fired at {CELLS[cell]} and sank the {FLEET[ship][0]}.")
            else:
                reports.append(f"{{{seat}}} fired at {CELLS[cell]}: a hit.")
        return After(self.with_waters(state, 1 - seat, theirs), reports, final=True)

    def with_waters(self, state: State, seat: Seat, waters: Waters) -> State:
        """Return the state with other waters of a player."""
        return tuple(waters if n == seat else own for n, own in enumerate(state))

    def over(self, state: State) -> Result | None:
        for seat in (0, 1):
            if len(state[1 - seat].sunk) == len(FLEET):
                return win(seat, "all ships are sunk")
        return None

    def seen(self, state: State, seat: Seat | None) -> State:
        if self.over(state):
            return state
        return tuple(
            own if n == seat else replace(own, ships=self.known(own)) for n, own in enumerate(state)
        )

    def known(self, waters: Waters) -> tuple[Ship, ...]:
        """Return the ships that everybody knows, since they are sunk."""
        return tuple(ship if n in waters.sunk else () for n, ship in enumerate(waters.ships))

    def show(self, state: State, seat: Seat | None) -> list[Grid | str]:
        parts: list[Grid | str] = []
        for owner in (0, 1) if seat is None else (1 - seat, seat):
            title, ships = self.titles(owner, seat)
            parts.append(self.chart(state[owner], title, still=owner == seat))
            afloat = [name for n, (name, _) in enumerate(FLEET) if n not in state[owner].sunk]
            parts.append(f"{ships}: {', '.join(afloat) or 'none'} afloat.")
        grids = [part for part in parts if isinstance(part, Grid)]
        return [*grids, *(part for part in parts if isinstance(part, str))]

    def titles(self, owner: Seat, seat: Seat | None) -> tuple[str, str]:
        """Return what a reader calls the waters of a player, and the ships in them."""
        if seat is None:
            waters = f"{'First' if owner == 0 else 'Second'} player's waters"
            return waters, waters
        return ("Your waters", "Your ships") if owner == seat else ("Where you fire", "Their ships")

    def chart(self, waters: Waters, title: str, *, still: bool) -> Grid:
        """Return the waters of a player."""
        ships = {cell for ship in waters.ships for cell in ship}
        marks = [
            "*" if n in waters.hits else "o" if n in waters.misses else "#" if n in ships else "."
            for n in range(SIZE * SIZE)
        ]
        rows = [marks[n : n + SIZE] for n in range(0, SIZE * SIZE, SIZE)]
        sunk = [CELLS[cell] for n in waters.sunk for cell in waters.ships[n]]
        still = still or not waters.is_ready
        return Grid(rows, PIECES, title=title, strong=sunk, strong_is="sunk", still=still)

    def ask(self, state: State, seat: Seat) -> str:
        if not state[seat].is_ready:
            return (
                "Place your ships of 5, 4, 3, 3 and 2 cells, each from one end to the other, as in "
                "A1-A5 and four more, or reply random."
            )
        count = self.shots(state, seat)
        return f"Reply with {'a cell' if count == 1 else f'{count} cells'} to fire at."


GAME = Battleships()

# -- the bots --------------------------------------------------------------------------------------


def chances(waters: Waters) -> list[float]:
    """Return the weight of each cell: how likely it is to be part of a ship that is still afloat.

    It is the number of places of ships that contain the cell and that the shots so far allow; each
    open hit in a place makes it count fifty-fold. Cells that were fired at have 0.
    """
    weight = [0.0] * (SIZE * SIZE)
    sunk = {cell for n in waters.sunk for cell in waters.ships[n]}
    open_hits = waters.hits - sunk
    closed = waters.misses | sunk
    if not waters.touching:
        closed |= {cell for sunk_cell in sunk for cell in around(sunk_cell)}
    for n, (_, length) in enumerate(FLEET):
        if n in waters.sunk:
            continue
        for ship in placements(length):
            if closed.isdisjoint(ship):
                hits = sum(cell in open_hits for cell in ship)
                for cell in ship:
                    weight[cell] += 50.0**hits
    return [0.0 if n in waters.shots else likelihood for n, likelihood in enumerate(weight)]


def hunter(least: float) -> Bot[State]:
    """Return a bot that fires at the likeliest cells.

    Args:
        least: how likely a cell must be, as a share of the likeliest one. With 0,
            the bot fires at random in every other column until it hits a ship.
    """

    def choose(state: State, seat: Seat, rng: Rng) -> str:
        if not state[seat].is_ready:
            return spelt(random_fleet(rng, touching=state[seat].touching))
        theirs = state[1 - seat]
        weight = chances(theirs)
        shots = []
        for _ in range(GAME.shots(state, seat)):
            free = [n for n in range(SIZE * SIZE) if n not in theirs.shots and n not in shots]
            best = max(weight[n] for n in free)
            sunk = {cell for n in theirs.sunk for cell in theirs.ships[n]}
            floor = least or (0.5 if theirs.hits - sunk else 0.0)
            good = [n for n in free if weight[n] >= floor * best and (floor or n % 2)]
            shots.append(rng.choice(good or free))
        return " ".join(CELLS[n] for n in shots)

    return choose


GAME.bots = {"house-easy": hunter(0.0), "house": hunter(0.4), "house-best": hunter(0.98)}
