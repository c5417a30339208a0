"""`python -m generators.trees [KIND …] [--write]`: make the stored trees and compare or write them.

At each node every port is tried. The tree takes the port after which a greedy player pays least;
that player plays perfectly when fewer than ten layouts are left. For some boards a few of the best
ports are tried once more, each followed by a player who makes such trials, too (`growing`). Nothing
is random and nothing depends on time, so the files are the same on every machine. It needs numba
(the extra `house`).
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from generators import growing, kernels
from generators.kernels import sums_over_orientations
from pbmserv.games.blackbox.bots import trees
from pbmserv.games.blackbox.bots.trees import KINDS, Goal
from pbmserv.games.blackbox.options import Options

PLANS: dict[tuple[tuple[int, int, int], Goal], Any] = {
    ((7, 7, 4), Goal.PROBES): growing.plan([(18, 4)], []),
    ((7, 7, 4), Goal.POINTS): growing.plan([(17, 4)], []),
    ((8, 8, 3), Goal.PROBES): growing.plan([(16, 4)], [(16, 2)]),
    ((8, 8, 3), Goal.POINTS): growing.plan([(16, 4)], [(16, 2)]),
    ((8, 8, 4), Goal.PROBES): growing.plan([(14, 4), (17, 2)], []),
    ((8, 8, 4), Goal.POINTS): growing.plan([(14, 4), (17, 2)], []),
}
"""Numbers of ports that are tried once more, at nodes of the tree and in trials; default none."""

FOLDER = Path(trees.__file__).parent / trees.FOLDER


def main() -> int:
    """Make the trees of all kinds, or of the named ones."""
    parser = argparse.ArgumentParser(prog="python -m generators.trees", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="such as 7x7/4; all without any")
    parser.add_argument("--write", action="store_true", help="write the files")
    arguments = parser.parse_args()
    wrong = 0
    for width, height, atoms in KINDS:
        if not arguments.kinds or f"{width}x{height}/{atoms}" in arguments.kinds:
            wrong += made((width, height, atoms), write=arguments.write)
    return 1 if wrong else 0


def made(kind: tuple[int, int, int], *, write: bool) -> int:
    """Make the trees of one kind of board and return how many files differ."""
    results = kernels.results_of(*kind)
    board = results, kernels.classes_of(results), kernels.surprises(len(results))
    wrong = 0
    for goal in KINDS[kind]:
        begun = process_time()
        aim = (kernels.BITS, kernels.THRIFT)[goal is Goal.POINTS]
        price = (kernels.PROBES, kernels.POINTS)[goal is Goal.POINTS]
        how = price, aim, kernels.EXACT
        if (kind, goal) in PLANS:
            grown = kernels.grow(board, how, growing.best_trial, PLANS[kind, goal])
        else:
            grown = kernels.grow(board, how, kernels.by_rollouts)
        costs = [kernels.paid(*grown, price) for price in (kernels.PROBES, kernels.POINTS)]
        content = tree_content(kind, goal, planes(*grown[:3]), ranks(kind, costs[0]))
        name = trees.file_name(*kind, goal)
        packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
        print(f"{name}: {costs[0].mean():.4f} probes, {costs[1].mean():.4f} points, at most "
              f"{costs[0].max()} probes; {len(content):,} bytes, {len(packed):,} compressed "
              f"({process_time() - begun:.0f} s)", flush=True)  # fmt: skip
        if write:
            (FOLDER / f"{name}.xz").write_bytes(packed)
            note(name, content)
        elif lzma.decompress((FOLDER / f"{name}.xz").read_bytes()) != content:
            print(f"{name}.xz is another one")
            wrong += 1
    return wrong


def tree_content(
    kind: tuple[int, int, int],
    goal: Goal,
    planes: tuple[bytes, bytes, bytes],
    ranks: Sequence[int],
) -> bytes:
    """Return the content of a tree's file, which `trees.read_tree` reads."""
    width, height, atoms = kind
    about = {
        "width": width,
        "height": height,
        "atoms": atoms,
        "goal": goal,
        "nodes": len(planes[0]),
        "ranks": list(ranks),
    }
    return json.dumps(about).encode() + b"\n" + b"".join(planes)


def planes(asked: Any, branches: Any, came: Any) -> tuple[bytes, bytes, bytes]:
    """Return the inner nodes: ports, numbers of children, results."""
    inner = asked != kernels.LEAF
    children = np.repeat(np.arange(len(asked)), branches)  # the parent of each node but the first
    kept = np.bincount(children[inner[1:]], minlength=len(asked))
    return asked[inner].tobytes(), kept[inner].astype(np.uint8).tobytes(), came[inner].tobytes()


def ranks(kind: tuple[int, int, int], probes: Any) -> Sequence[int]:
    """Return the number of layouts for each number of probes, summed over orientations."""
    width, height, atoms = kind
    options = Options(width, height, atoms, atoms)
    return [int(count) for count in np.bincount(sums_over_orientations(options, probes))]


def note(name: str, content: bytes) -> None:
    """Store the checksum of a file beside the others."""
    file = FOLDER / trees.SUMS
    lines = file.read_text().splitlines() if file.exists() else []
    kept = [line for line in lines if line.split()[1] != name]
    kept.append(f"{sha256(content).hexdigest()}  {name}")
    file.write_text("\n".join(sorted(kept, key=lambda line: line.split()[1])) + "\n")


if __name__ == "__main__":
    sys.exit(main())
