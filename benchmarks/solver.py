"""`python -m benchmarks.solver [--all]`: how the house plays, in numbers.

All of it is exact: every layout is looked at, and a greedy player's whole tree of probes is walked.
How strong the house's levels are says `benchmarks.strength`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from math import comb, log2
from time import perf_counter

from pbmserv.games.blackbox.bots.search import search
from pbmserv.games.blackbox.bots.trees import KINDS, Goal, file_name, tree
from pbmserv.games.blackbox.cli.studies import spectra, walked
from pbmserv.games.blackbox.geometry import HIT, field_of, geometry, trace_all
from pbmserv.games.blackbox.options import Options

QUICK = ((7, 3), (7, 4), (8, 3))
ALL = (*QUICK, (8, 4))
BITS = ((7, 4), (8, 3), (8, 4), (8, 5))


@dataclass(frozen=True)
class Row:
    """What is known of all layouts of a board."""

    layouts: int
    classes: int
    twins: int
    probes: float
    points: float
    thrifty: float


def main() -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver", description=__doc__)
    parser.add_argument("--all", action="store_true", help="8x8 with 4 atoms, too: two minutes")
    sizes = ALL if parser.parse_args().all else QUICK
    print("First probes into A, B, C, D, in bits")
    for side, atoms in BITS:
        shown = " ".join(f"{bits(side, atoms, port):.3f}" for port in range(4))
        print(f"  {side}x{side}, {atoms}: {shown}")
    print("\nAll layouts: number, classes with the same result at every port, layouts that are\n"
          "not unique; greedy by entropy: mean probes until one class is left, its classic\n"
          "points; points when greedy by entropy per expected point")  # fmt: skip
    for side, atoms in sizes:
        begun = perf_counter()
        row = exact(side, atoms)
        print(f"  {side}x{side}, {atoms}: {row.layouts:>8,} {row.classes:>8,} {row.twins:>6,}"
              f"  {row.probes:.3f} {row.points:.3f}  {row.thrifty:.3f}"
              f"   ({perf_counter() - begun:.0f} s)", flush=True)  # fmt: skip
    print("\nStored trees, played against all layouts: mean probes and points, microseconds a game")
    for kind, goals in KINDS.items():
        for goal in goals:
            if parser.parse_args().all or kind != (8, 8, 4):
                print(f"  {file_name(*kind, goal):<22} {followed(kind, goal)}", flush=True)
    print("\nWhat house-hard hides, 7x7, 4: exactly, over all layouts by how likely each is")
    if find_spec("numba") is None:
        print("  left out: pip install -c constraints.txt -e '.[house]'")
    else:
        from benchmarks.hiding import measured

        for line in measured():
            print(f"  {line}", flush=True)
    return 0


def followed(kind: tuple[int, int, int], goal: Goal) -> str:
    """What a stored tree needs for each layout; no two that rays can tell apart may end alike."""
    width, height, atoms = kind
    known = tree(width, height, atoms, goal)
    assert known is not None
    grid = field_of(known.board)
    probes = points = 0
    ends: dict[tuple[int, int], list[int]] = {}
    spent = 0.0
    for layout in combinations(known.board.cells, atoms):
        squares = grid.filled(layout)
        begun = perf_counter()
        way = list(known.way(grid, squares))
        spent += perf_counter() - begun
        probes += len(way)
        points += sum(1 if out in (HIT, known.ports[node]) else 2 for node, out in way)
        spectrum = trace_all(known.board, layout)
        if ends.setdefault(way[-1], spectrum) != spectrum:
            return f"WRONG: {layout} is not told apart"
    count = comb(width * height, atoms)
    return f"{probes / count:.4f} {points / count:.4f}  {spent / count * 1e6:.0f}"


def bits(side: int, atoms: int, port: int) -> float:
    """What a first probe tells on average, exactly: by the cases, not by the layouts."""
    board = geometry(side, side)
    total = comb(side * side, atoms)
    outs = (HIT, *range(len(board.ports)))
    shares = []
    for out in outs:
        found = search(board, [(port, out)], atoms, atoms, sys.maxsize)
        shares.append(sum(comb(len(c.open), atoms - len(c.atoms)) for c in found.cases) / total)
    return -sum(share * log2(share) for share in shares if share)


def exact(side: int, atoms: int) -> Row:
    """Walk through everything."""
    found = spectra(Options(side, side, atoms, atoms))
    sizes = Counter(found)
    probes, points = walked(found, lambda told, _: told)
    _, thrifty = walked(found, lambda told, cost: told / cost)
    twins = sum(size for size in sizes.values() if size > 1)
    return Row(len(found), len(sizes), twins, probes, points, thrifty)


if __name__ == "__main__":
    sys.exit(main())
