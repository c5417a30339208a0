"""Draws letters the plain way and as skeletons, to see that both are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from pbmserv.letters import skeletons
from pbmserv.letters.environment import environment
from pbmserv.letters.skeletons import SKELETONS, Draw, Shapes
from pbmserv.letters.tracing import Untraceable


@dataclass
class BothWays:
    """What came of it.

    Attributes:
        drawn: so many letters and parts of reports there were.
        filled: so many of them were filled in by way of another one.
        refused: letters whose templates do what cannot be followed.
        differ: (letter, plain, otherwise) of those that were not the same.
    """

    drawn: int = 0
    filled: int = 0
    differ: list[tuple[str, Sequence[str], Sequence[str]]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    shapes: dict[Any, Shapes] = field(default_factory=dict)

    def texts(self, draw: Draw, letter: str, values: Mapping[str, Any]) -> Sequence[str]:
        """In place of `Skeletons.texts`: each way is learnt at once."""
        plain = tuple(draw(environment(), letter, values))
        shapes = self.shapes.setdefault((draw, letter, *values), Shapes(len(values)))
        found = shapes.filled(values)
        self.drawn += 1
        if type(found) is tuple:
            self.filled += 1
        else:
            try:
                self._compare(letter, plain, shapes.learn(draw, letter, values))
            except Untraceable:
                self.refused.add(letter)
                return plain
            found = shapes.filled(values)
        self._compare(letter, plain, found)
        return plain

    def _compare(self, letter: str, plain: Sequence[str], other: Sequence[str]) -> None:
        if tuple(other) != plain:
            self.differ.append((letter, plain, other))


@contextmanager
def both_ways() -> Iterator[BothWays]:
    """Letters are drawn both ways meanwhile, however long they are."""
    found = BothWays()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SKELETONS, "texts", found.texts)
        patch.setattr(skeletons, "_LONGEST", 100_000)
        yield found
