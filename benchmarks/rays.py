"""Boxes a second that `pbmserv blackbox rays` answers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from time import perf_counter

from benchmarks.table import Line, at_least
from pbmserv.games.blackbox.options import CLASSIC

BOXES_S = 2_000


def measure(boxes: int) -> list[Line]:
    """The whole program, its start included."""
    chance = random.Random(7)
    board = CLASSIC.board
    lines = "".join(
        json.dumps({
            "w": board.width,
            "h": board.height,
            "atoms": [board.name(cell) for cell in chance.sample(board.cells, CLASSIC.least)],
        }) + "\n"
        for _ in range(boxes)
    )  # fmt: skip
    begun = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pbmserv", "blackbox", "rays"],
        input=lines, capture_output=True, text=True, check=True,
    )  # fmt: skip
    took = perf_counter() - begun
    if done.stdout.count("\n") != boxes:
        raise RuntimeError("not every box was answered")
    return [at_least("", "pbmserv blackbox rays, 7x7, start included", BOXES_S, boxes / took,
                     "boxes/s")]  # fmt: skip
