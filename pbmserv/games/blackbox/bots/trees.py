"""Stored trees of the ports of a very good player, for the most popular boards.

A tree was grown over all layouts of its board. Each of its ports is the best that the growing
found, and none has a result that is already known. `python -m generators.trees` makes the files and
measures how well they play. A file has no layouts; `search` finds the layout to guess from the
results.
"""

from __future__ import annotations

import json
import logging
import lzma
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from typing import Any

from pbmserv.games.blackbox.bots.search import Result, search
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import Field, field_of, trace_in

FOLDER = "trees"
SUMS = "SHA256SUMS"
"""The file with the checksums of the uncompressed files, since programs compress differently."""


class Goal(StrEnum):
    """The cost that a tree minimises, on average over all layouts."""

    PROBES = "probes"
    POINTS = "points"


KINDS: Mapping[tuple[int, int, int], tuple[Goal, ...]] = {
    (5, 5, 3): (Goal.PROBES,),
    (6, 6, 3): (Goal.PROBES,),
    (6, 6, 4): (Goal.PROBES,),
    (7, 7, 3): (Goal.PROBES,),
    (7, 7, 4): (Goal.PROBES, Goal.POINTS),
    (8, 8, 3): (Goal.PROBES, Goal.POINTS),
    (8, 8, 4): (Goal.PROBES, Goal.POINTS),
}
"""The goals of the trees of each board, by width, height and number of atoms."""


log = logging.getLogger("pbmserv.games")


class Damaged(Exception):
    """A stored tree is missing or differs from its checksum."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A tree with its nodes in the order of their levels. A node takes 6 bytes.

    Attributes:
        board, atoms, goal: the board, its number of atoms, and the goal.
        ports: the port at which each node fires.
        firsts: the first child of each node. Its last child is in front of the first child of the
            next node.
        results: the result that leads to each node: the exit port plus one, or 0 for a hit. After
            another result no port gives further information.
        ranks: the number of layouts by the sum of the probes of all their orientations.
    """

    board: Geometry
    atoms: int
    goal: Goal
    ports: bytes = field(repr=False)
    firsts: array[int] = field(repr=False)
    results: bytes = field(repr=False)
    ranks: tuple[int, ...] = field(repr=False)

    def port(self, history: Iterable[Result]) -> int | frozenset[int]:
        """Return the next port, or the layout to guess if no port gives further information.

        Args:
            history: the results so far, in any order, also of ports that the tree does not use.

        Raises:
            ValueError: no layout of this board explains them.
        """
        results = _from_both_ends(history)
        *_, node = self._nodes(results)
        return self._guess(results) if node < 0 else self.ports[node]

    def ports_used(self, history: Iterable[Result]) -> int:
        """Count the results in a history that the tree has used by now; see `port`."""
        return sum(1 for _ in self._nodes(_from_both_ends(history))) - 1

    def probes(self, layout: Iterable[int]) -> int:
        """Count the ports until a layout is known, apart from indistinguishable layouts."""
        grid = field_of(self.board)
        return sum(1 for _ in self.path(grid, grid.filled(layout)))

    def path(self, grid: Field, squares: bytearray) -> Iterator[tuple[int, int]]:
        """Yield the nodes for a box, and the result of each ray."""
        node = 0
        while node >= 0:
            out = trace_in(grid, squares, self.ports[node])
            yield node, out
            node = self._next_node(node, out)

    def _nodes(self, results: Mapping[int, int]) -> Iterator[int]:
        """Yield the nodes up to the first port without a result, or -1 if no port is left."""
        node = 0
        yield node
        while node >= 0 and (port := self.ports[node]) in results:
            node = self._next_node(node, results[port])
            yield node

    def _next_node(self, node: int, out: int) -> int:
        """Return the next node, -1 if no port gives further information."""
        return self.results.find(out + 1, self.firsts[node], self.firsts[node + 1])

    def _guess(self, results: Mapping[int, int]) -> frozenset[int]:
        result = search(self.board, list(results.items()), self.atoms, self.atoms, sys.maxsize)
        for case in result.cases:  # all layouts are indistinguishable, so take the first
            return frozenset((*case.atoms, *case.open[: self.atoms - len(case.atoms)]))
        raise ValueError("no layout explains these results")


def _from_both_ends(history: Iterable[Result]) -> dict[int, int]:
    """Return the result of each port, also of the other ends of detours."""
    results = dict(history)
    return results | {out: port for port, out in results.items() if out >= 0}


@cache
def usable_tree(width: int, height: int, atoms: int, goal: Goal) -> Tree | None:
    """Return the stored tree for a board, `None` if there is none or it is damaged.

    Each process logs a damaged tree once.
    """
    try:
        return tree(width, height, atoms, goal)
    except Damaged as error:
        log.error(
            "a stored tree is damaged; its boards are played without", extra={"why": str(error)}
        )
        return None


@cache
def tree(width: int, height: int, atoms: int, goal: Goal) -> Tree | None:
    """Return the stored tree for a board, `None` if there is none.

    The first call reads its file, which takes up to a tenth of a second.

    Raises:
        Damaged: the file is missing or differs from its checksum.
    """
    if goal not in KINDS.get((width, height, atoms), ()):
        return None
    return read_tree(read_stored(file_name(width, height, atoms, goal)))


def read_stored(name: str) -> bytes:
    """Return the content of a stored file.

    Raises:
        Damaged: the file is missing or differs from its checksum.
    """
    folder = files("pbmserv.games.blackbox.bots").joinpath(FOLDER)
    try:
        lines = folder.joinpath(SUMS).read_text("ascii").splitlines()
        content = lzma.decompress(folder.joinpath(f"{name}.xz").read_bytes())
    except (OSError, ValueError, EOFError, lzma.LZMAError) as error:
        raise Damaged(f"{name}.xz cannot be read: {error}") from error
    if f"{sha256(content).hexdigest()}  {name}" not in lines:
        raise Damaged(f"{name}.xz is not what {SUMS} says")
    return content


def file_name(width: int, height: int, atoms: int, goal: Goal) -> str:
    """Return the name of a tree's file."""
    return f"{width}x{height}-{atoms}-{goal}.tree"


def read_tree(content: bytes) -> Tree:
    """Return the tree in the content of a file.

    The content is a line of JSON, then the ports, the numbers of children and the results of all
    nodes, a byte each.
    """
    head, _, planes = content.partition(b"\n")
    about: dict[str, Any] = json.loads(head)
    nodes = about["nodes"]
    ports, branches, results = (planes[at : at + nodes] for at in (0, nodes, 2 * nodes))
    firsts = array("I", accumulate(branches, initial=1))
    board = geometry(about["width"], about["height"])
    return Tree(
        board, about["atoms"], Goal(about["goal"]), ports, firsts, results, tuple(about["ranks"])
    )
