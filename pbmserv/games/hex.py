"""Hex."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from math import isqrt
from typing import Any

from pbmserv.game import LETTERS, Bot, Effort, Game, Grid, Option, Piece, Result, Rng, Seat, win

STONES = {
    "X": Piece("X", "X", 0, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "O", 1, "\N{WHITE CIRCLE}"),
}


@cache
def names(size: int) -> tuple[str, ...]:
    """Return the names of all cells, row by row."""
    return tuple(f"{LETTERS[n % size]}{n // size + 1}" for n in range(size * size))


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the cells beside each cell."""
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
    return tuple(
        tuple(
            (cell // size + down) * size + cell % size + right
            for right, down in steps
            if 0 <= cell % size + right < size and 0 <= cell // size + down < size
        )
        for cell in range(size * size)
    )


@cache
def edges(size: int, seat: Seat) -> tuple[frozenset[int], frozenset[int]]:
    """Return the cells at both edges of a player."""
    cells = range(size * size)
    if seat == 0:
        return frozenset(cells[:size]), frozenset(cells[-size:])
    return frozenset(cells[::size]), frozenset(cells[size - 1 :: size])


def side_of(board: str) -> int:
    """Return the number of rows of a board."""
    return isqrt(len(board))


def chain(board: str, seat: Seat) -> list[int]:
    """Return a chain of stones from edge to edge, the shortest one; empty if there is none."""
    size, stone = side_of(board), "XO"[seat]
    begin, end = edges(size, seat)
    came: dict[int, int] = {cell: cell for cell in begin if board[cell] == stone}
    waiting = deque(sorted(came))
    while waiting:
        cell = waiting.popleft()
        if cell in end:
            path = [cell]
            while came[path[-1]] != path[-1]:
                path.append(came[path[-1]])
            return path
        for beside in neighbours(size)[cell]:
            if board[beside] == stone and beside not in came:
                came[beside] = cell
                waiting.append(beside)
    return []


class Hex(Game[str]):
    """Join your two edges of the board with a chain of stones; the first to do so wins.

    X begins and joins the top with the bottom, O the left with the right. Take turns to put a stone
    on any free cell. Each cell has six neighbours: in the row above, its own column and the one to
    the right; in the row below, its own column and the one to the left. There are no draws.
    """

    key, title = "hex", "Hex"
    options = (Option("size", "rows and columns", range(5, 15), 11),)
    swap, draws = True, False

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> str:
        size: int = options["size"]
        return "." * size * size

    def moves(self, state: str, seat: Seat) -> Iterable[str]:
        return (
            name for name, stone in zip(names(side_of(state)), state, strict=True) if stone == "."
        )

    def play(self, state: str, seat: Seat, move: str, rng: Rng) -> str:
        at = names(side_of(state)).index(move)
        return f"{state[:at]}{'XO'[seat]}{state[at + 1 :]}"

    def over(self, state: str) -> Result | None:
        for seat in (0, 1):
            if chain(state, seat):
                return win(seat, "a chain from edge to edge")
        return None

    def worth_swapping(self, state: str) -> bool:
        size, at = side_of(state), state.index("X")
        to_edge = min(at % size, size - 1 - at % size, at // size, size - 1 - at // size)
        return to_edge >= max(1, size // 5)

    def show(self, state: str, seat: Seat | None) -> Grid:
        size = side_of(state)
        cells = chain(state, 0) or chain(state, 1)
        return Grid(
            [state[row : row + size] for row in range(0, size * size, size)],
            STONES,
            shape="hexes",
            strong=[names(size)[cell] for cell in cells],
            edges={"top": 0, "bottom": 0, "left": 1, "right": 1},
        )

    def ask(self, state: str, seat: Seat) -> str:
        last = names(side_of(state))[-1]
        way = "the top with the bottom" if seat == 0 else "the left with the right"
        return f"Reply with a free cell from A1 to {last}; you join {way}."


GAME = Hex()

# -- the bots -------------------------------------------------------------------------------------


def critical(board: str, seat: Seat, fills: int, draws: random.Random) -> list[float]:
    """Return for each free cell how often the owner of the cell wins, if the rest is filled at
    random."""
    size = side_of(board)
    beside = neighbours(size)
    begin, end = edges(size, 0)
    free = [n for n, stone in enumerate(board) if stone == "."]
    taken = [stone == "X" for stone in board]
    mine = (len(free) + 1) // 2
    counts = [0] * len(board)
    for _ in range(fills):
        draws.shuffle(free)
        owned = taken[:]
        for n in free[:mine] if seat == 0 else free[mine:]:
            owned[n] = True
        waiting = [n for n in begin if owned[n]]
        seen = set(waiting)
        wins = False
        while waiting:
            cell = waiting.pop()
            if cell in end:
                wins = True
                break
            for other in beside[cell]:
                if owned[other] and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        for n in free:
            counts[n] += owned[n] == wins
    return [count / fills if board[n] == "." else -1.0 for n, count in enumerate(counts)]


def broken_bridges(board: str, seat: Seat) -> set[int]:
    """Return the cells that keep two stones of a player together, of which one way is blocked."""
    size = side_of(board)
    beside, mine, theirs = neighbours(size), "XO"[seat], "OX"[seat]
    saving = set()
    for cell, stone in enumerate(board):
        if stone != theirs:
            continue
        for other in beside[cell]:
            if board[other] != ".":
                continue
            ends = [n for n in beside[cell] if n in beside[other] and board[n] == mine]
            if len(ends) == 2:
                saving.add(other)
    return saving


def bot(fills: int) -> Bot[str]:
    """Return a bot that fills the board at random so many times, and keeps its bridges."""

    def choose(state: str, seat: Seat, rng: Rng) -> str:
        size = side_of(state)
        if set(state) == {"."}:
            return names(size)[size * (size // 2) + size // 2]
        draws = random.Random(rng.below(2**32))  # noqa: S311 - for playing only
        worth = critical(state, seat, max(10, round(fills * Effort.share)), draws)
        for cell in broken_bridges(state, seat):
            worth[cell] += 0.1 if fills > 100 else 0.0
        free = [n for n, stone in enumerate(state) if stone == "."]
        for cell in free:
            if chain(f"{state[:cell]}{'XO'[seat]}{state[cell + 1 :]}", seat):
                return names(size)[cell]
        return names(size)[max(free, key=lambda n: worth[n])]

    return choose


GAME.bots = {"house-easy": bot(60), "house": bot(1_000), "house-best": bot(30_000)}
