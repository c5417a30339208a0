"""Stored trees: which port a very good player fires at next, on the boards people play most.

A tree was grown over all layouts of its board, so each of its ports is the best that its maker
found, and it never asks what it can know. `python -m benchmarks.trees` makes the files and says
how well they play. A file holds no layout; the last guess is found by `search`, from the results.
"""

from __future__ import annotations

import json
import logging
import lzma
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any

from pbmserv.games.blackbox.bots.search import Result, search
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import Field, field_of, trace_in

FOLDER = "trees"
SUMS = "SHA256SUMS"
"""Of the files as they are before they are compressed, since programs compress differently."""


class Goal(StrEnum):
    """What a tree needs few of, on average over all layouts."""

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
"""Width, height and number of atoms of the boards that have trees."""


log = logging.getLogger("pbmserv.games")


class Damaged(Exception):
    """A stored tree is missing, or not the one that was made."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A tree, its nodes in the order of their levels; it takes 6 bytes for each.

    Attributes:
        board, atoms, goal: what it is for.
        ports: the port that each node fires at.
        firsts: each node's first child; its last one comes before the next node's first.
        results: what leads to each node: the port where the ray came out plus one, 0 = hit.
            After any other result nothing is left to tell.
        ranks: how many layouts need so many probes, summed over their orientations, as the index.
    """

    board: Geometry
    atoms: int
    goal: Goal
    ports: bytes = field(repr=False)
    firsts: array[int] = field(repr=False)
    results: bytes = field(repr=False)
    ranks: tuple[int, ...] = field(repr=False)

    def port(self, history: Iterable[Result]) -> int | frozenset[int]:
        """The port to fire at next; a layout where no port tells anything more: the guess.

        Args:
            history: ports that were fired, and where rays came out, as `rays.trace` gives it;
                in any order, and others than the tree's own are no harm.

        Raises:
            ValueError: no layout of this board explains them.
        """
        told = _from_both_ends(history)
        *_, node = self._known(told)
        return self._guess(told) if node < 0 else self.ports[node]

    def asked(self, history: Iterable[Result]) -> int:
        """How many of these results it would have asked for by now; as `port` otherwise."""
        return sum(1 for _ in self._known(_from_both_ends(history))) - 1

    def probes(self, layout: Iterable[int]) -> int:
        """How many ports it fires at until it knows a layout, or what nobody can tell from it."""
        grid = field_of(self.board)
        return sum(1 for _ in self.way(grid, grid.filled(layout)))

    def way(self, grid: Field, squares: bytearray) -> Iterator[tuple[int, int]]:
        """The nodes that it comes by in a box, and where each ray comes out."""
        node = 0
        while node >= 0:
            out = trace_in(grid, squares, self.ports[node])
            yield node, out
            node = self._after(node, out)

    def _known(self, told: Mapping[int, int]) -> Iterator[int]:
        """The nodes that it comes by until it has to ask; -1 is the last where nothing is left."""
        node = 0
        yield node
        while node >= 0 and (port := self.ports[node]) in told:
            node = self._after(node, told[port])
            yield node

    def _after(self, node: int, out: int) -> int:
        """The next node, -1: nothing is left to tell."""
        return self.results.find(out + 1, self.firsts[node], self.firsts[node + 1])

    def _guess(self, told: Mapping[int, int]) -> frozenset[int]:
        found = search(self.board, list(told.items()), self.atoms, self.atoms, sys.maxsize)
        for case in found.cases:  # where nothing is left to tell, any of them is as good
            return frozenset((*case.atoms, *case.open[: self.atoms - len(case.atoms)]))
        raise ValueError("no layout explains these results")


def _from_both_ends(history: Iterable[Result]) -> dict[int, int]:
    told = dict(history)
    return told | {out: port for port, out in told.items() if out >= 0}


@cache
def sound(width: int, height: int, atoms: int, goal: Goal) -> Tree | None:
    """As `tree`, but a damaged one counts as none, and each process logs it once."""
    try:
        return tree(width, height, atoms, goal)
    except Damaged as error:
        log.error(
            "a stored tree is damaged; its boards are played without", extra={"why": str(error)}
        )
        return None


@cache
def tree(width: int, height: int, atoms: int, goal: Goal) -> Tree | None:
    """The stored tree for a board; ``None`` = there is none. The first call reads its file, which
    takes up to a tenth of a second.

    Raises:
        Damaged: its file is not what was made.
    """
    if goal not in KINDS.get((width, height, atoms), ()):
        return None
    return read(stored(file_name(width, height, atoms, goal)))


def stored(name: str) -> bytes:
    """The content of a stored file, of a tree or another.

    Raises:
        Damaged: it is not what was made.
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
    """What a tree is called."""
    return f"{width}x{height}-{atoms}-{goal}.tree"


def read(content: bytes) -> Tree:
    """A tree from the content of its file: a line of JSON, then ports, number of children and
    results of all nodes, a byte each."""
    head, _, planes = content.partition(b"\n")
    about: dict[str, Any] = json.loads(head)
    nodes = about["nodes"]
    ports, branches, results = (planes[at : at + nodes] for at in (0, nodes, 2 * nodes))
    firsts = array("I", accumulate(branches, initial=1))
    board = geometry(about["width"], about["height"])
    return Tree(
        board, about["atoms"], Goal(about["goal"]), ports, firsts, results, tuple(about["ranks"])
    )


def written(
    kind: tuple[int, int, int],
    goal: Goal,
    planes: tuple[bytes, bytes, bytes],
    ranks: Sequence[int],
) -> bytes:
    """The content of a tree's file, as `read` takes it."""
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


def winning_turns(
    branches: Sequence[int], node_of: Sequence[int], limits: Sequence[int]
) -> Iterator[int]:
    """The turns in which somebody wins who plays by a tree; of a layout that is lost none comes.

    Each turn fires the tree's port; where few layouts are left, it guesses one of them as well: of
    those that the tree cannot tell from others if there are any, since they need guesses anyway.

    Args:
        branches: how many children each node has, the nodes in the order of their levels.
        node_of: the leaf of each layout.
        limits: for each guess that is left, the first one first, at how many layouts it is taken.
    """
    firsts = list(accumulate(branches, initial=1))
    children = [range(*pair) for pair in pairwise(firsts)]
    held: list[list[int]] = [[] for _ in branches]
    for layout, node in enumerate(node_of):
        held[node].append(layout)
    alike = list(map(len, held))
    for node in range(len(branches) - 1, -1, -1):  # of large sets nobody asks which they are
        if all(0 < len(held[child]) <= limits[0] for child in children[node]):
            held[node] += [one for child in children[node] for one in held[child]]
    todo = [(0, 1, limits, frozenset[int]())]
    while todo:
        node, turn, guesses, wrong = todo.pop()
        left = [one for one in held[node] if one not in wrong]
        if not children[node]:  # nothing more can be told
            yield from (turn + tried for tried in range(min(len(left), len(guesses))))
            continue
        if 0 < len(left) <= guesses[0]:
            yield turn
            first = max(left, key=lambda one: alike[node_of[one]])
            guesses, wrong = guesses[1:], wrong | {first}
        if guesses:
            todo += [(child, turn + 1, guesses, wrong) for child in children[node]]


@cache
def orientations(board: Geometry) -> tuple[tuple[int, ...], ...]:
    """Where each cell comes when the board is turned and mirrored in each way that fits it."""
    places = [divmod(cell, board.width) for cell in board.cells]
    return tuple(
        tuple(row * board.width + column for row, column in turned)
        for turned in _turned(board, places)
    )


@cache
def port_orientations(board: Geometry) -> tuple[tuple[int, ...], ...]:
    """Where each port comes, in the order of `orientations`."""
    places = [(row - 1, column - 1) for column, row in board.port_places]
    return tuple(
        tuple(places.index(place) for place in turned) for turned in _turned(board, places)
    )


def _turned(board: Geometry, places: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Rows and columns, in each way; those of ports lie around the cells, from -1 on."""
    width, height = board.width, board.height
    for swapped in (False, True) if width == height else (False,):
        for down in (False, True):
            for across in (False, True):
                turned = []
                for row, column in places:
                    new_row = height - 1 - row if down else row
                    new_column = width - 1 - column if across else column
                    turned.append((new_column, new_row) if swapped else (new_row, new_column))
                yield turned
