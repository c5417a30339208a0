"""A bad plug-in: `heaps` with moves that make its rules break down, each in another way."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from heaps import STONES, Heap, Heaps, HeapView, Taker, show_heaps

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat, Step

_NAMES = Path("bad_plugin-1.dist-info")


def _loop() -> None:
    while True:
        pass


def _recurse() -> None:
    _recurse()


def _raise() -> None:
    raise ZeroDivisionError("these rules are bad")


def _sleep() -> None:
    time.sleep(100_000)


WAYS: dict[str, Callable[[], object]] = {
    "loop": _loop,
    "raise": _raise,
    "recurse": _recurse,
    "hoard": lambda: bytearray(1 << 62),
    "exit": lambda: sys.exit(3),
    "abort": os.abort,
}


class Dreamer(Taker):
    """A bot that takes one stone, and never finds a move once a player has passed."""

    def choose(self, view: HeapView, rng: Rng) -> str:
        return "1" if not view.heap.passed else str(_sleep())


class BadHeaps(Heaps):
    """The game. After three stones are gone, making a letter never ends; after two, a page."""

    bots = MappingProxyType({"house": Dreamer()})

    def view(self, state: Heap, seat: Seat | None) -> HeapView:
        if state.stones == STONES - 3 and threading.current_thread().name.startswith("sender"):
            _sleep()
        if state.stones == STONES - 2 and threading.current_thread().name.startswith("asyncio"):
            _sleep()
        return super().view(state, seat)

    def parse(self, view: HeapView, text: str) -> Move:
        word = text.strip().lower()
        return Move(word) if word in WAYS else super().parse(view, text)

    def apply(self, state: Heap, seat: Seat, move: Move, rng: Rng) -> Step[Heap]:
        if move.text in WAYS:
            WAYS[move.text]()
        return super().apply(state, seat, move, rng)


BAD_HEAPS = BadHeaps()
show_heaps()


def announce(folder: Path, game: str = "bad_plugin:BAD_HEAPS") -> str:
    """Announce the plug-in in *folder*, and return a ``PYTHONPATH`` for a server that uses it."""
    place = folder / _NAMES
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: bad_plugin\nVersion: 1\n")
    (place / "entry_points.txt").write_text(f"[pbmserv.games]\nheaps = {game}\n")
    return os.pathsep.join([str(folder), str(Path(__file__).parent)])
