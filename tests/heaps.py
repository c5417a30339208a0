"""A tiny game for tests: players take one to three stones, and the last stone wins.

It has moves that Blackbox does not have: ``pass`` (once each), ``swap`` (the second player's first
turn takes over the first player's stones), and ``propose``, ``accept``, ``reject`` for a draw.
Nothing is hidden, and there are no previews and no conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from jinja2 import FileSystemLoader

from pbmserv.engine.protocol import Bot, Game
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import GameInfo, Move, Note, Outcome, Seat, Step
from pbmserv.errors import Illegal, NotUnderstood, OptionError
from pbmserv.views.environment import environment

STONES = 12
FIRST = Seat(0)
WORDS = ("pass", "swap", "propose", "accept", "reject")
TEMPLATES = Path(__file__).parent / "heaps_templates"


@dataclass(frozen=True)
class Heap:
    """The position; nothing in it is hidden."""

    stones: int = STONES
    turns: int = 0
    mover: Seat = FIRST
    proposed: bool = False
    refused: bool = False
    passed: frozenset[Seat] = frozenset()
    taken: tuple[int, int] = (0, 0)
    outcome: Outcome | None = None


@dataclass(frozen=True)
class HeapView:
    """The position and the seat that looks at it."""

    heap: Heap
    seat: Seat | None


class Taker:
    """A bot that leaves a multiple of four if it can."""

    def agree(self, options: tuple[()]) -> None:
        """Accept all options."""

    def choose(self, view: HeapView, rng: Rng) -> str:
        if view.heap.proposed:
            return "reject"
        stones = view.heap.stones
        return str(stones % 4 or 1 + rng.below(min(3, stones)))


class Heaps:
    info = GameInfo("heaps", "Heaps", "take the last stone", 2, 2, hidden=False, rules_version=1)
    bots: Mapping[str, Bot[HeapView]] = MappingProxyType({"house": Taker()})

    def options(self, words: Sequence[str], seats: int) -> tuple[()]:
        for word in words:
            raise OptionError("heaps.no-option", part=word)
        return ()

    def describe(self, options: tuple[()]) -> tuple[str, ...]:
        return options

    def rated(self, options: tuple[()]) -> bool:
        return False

    def setup(self, seats: int, options: tuple[()], rng: Rng) -> Heap:
        return Heap()

    def to_act(self, state: Heap) -> frozenset[Seat]:
        return frozenset() if state.outcome else frozenset({state.mover})

    def turn(self, state: Heap, seat: Seat) -> int:
        return state.turns + (1 if seat == state.mover else 2)

    def view(self, state: Heap, seat: Seat | None) -> HeapView:
        return HeapView(state, seat)

    def parse(self, view: HeapView, text: str) -> Move:
        word = text.strip().lower()
        if word not in {*WORDS, "1", "2", "3"}:
            raise NotUnderstood("heaps.not-a-move", part=text[:60])
        if view.heap.outcome or view.seat is None:
            raise Illegal("heaps.not-now", part=word)
        if word not in self._words(view.heap, view.seat):
            raise Illegal("heaps.not-now", part=word)
        return Move(word)

    def legal(self, view: HeapView) -> Iterable[str]:
        return () if view.seat is None else self._words(view.heap, view.seat)

    def apply(self, state: Heap, seat: Seat, move: Move, rng: Rng) -> Step[Heap]:
        if seat not in self.to_act(state) or move.text not in self._words(state, seat):
            raise Illegal("heaps.not-now", part=move.text)
        other = Seat(1 - seat)
        after = replace(state, turns=state.turns + 1, mover=other, proposed=False)
        if move.text == "pass":
            after = replace(after, passed=state.passed | {seat})
        elif move.text == "swap":
            after = replace(after, taken=state.taken[::-1])
        elif move.text == "propose":
            after = replace(after, proposed=True, refused=True)
        elif move.text == "accept":
            after = replace(after, outcome=Outcome((1, 1), "draw"))
        elif move.text != "reject":
            count = int(move.text)
            taken = list(state.taken)
            taken[seat] += count
            after = replace(after, stones=state.stones - count, taken=(taken[0], taken[1]))
            if not after.stones:
                places = (1, 2) if seat == 0 else (2, 1)
                after = replace(after, outcome=Outcome(places, "last-stone", seat))
        return Step(after, {None: move.text}, (Note("did", seat, None, {"what": move.text}),))

    def withdraw(self, state: Heap, seat: Seat, rng: Rng) -> Step[Heap]:
        if state.outcome:
            raise Illegal("heaps.not-now", part="resign")
        places = (2, 1) if seat == 0 else (1, 2)
        after = replace(state, outcome=Outcome(places, "resigned", seat))
        notes = (Note("resigned", seat, None),)
        return Step(after, {None: "resign"}, notes, reveals=True)

    def outcome(self, state: Heap) -> Outcome | None:
        return state.outcome

    def _words(self, heap: Heap, seat: Seat) -> list[str]:
        if heap.proposed and seat == heap.mover:
            return ["accept", "reject"]
        words = [str(n) for n in (1, 2, 3) if n <= heap.stones]
        if seat not in heap.passed:
            words.append("pass")
        if seat == 1 and heap.turns == 1:
            words.append("swap")
        if not heap.refused and heap.turns > 1:
            words.append("propose")
        return words


HEAPS: Game[tuple[()], Heap, HeapView] = Heaps()


def show_heaps() -> None:
    """Let letters find this game's templates from now on."""
    loader = environment().loader
    assert isinstance(loader, FileSystemLoader)
    if str(TEMPLATES) not in loader.searchpath:
        loader.searchpath.append(str(TEMPLATES))
