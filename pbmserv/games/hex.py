"""Hex."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pbmserv.game import LETTERS, Game, Grid, Option, Piece, Result, Rng, Seat, win
from pbmserv.game.search import Effort

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
    return int(len(board) ** 0.5)


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
    """Join your two edges of the board with a chain of stones.

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

# -- the bots. Resistance of a board as an electric circuit: how easily current still flows. ------


def potentials(board: str, seat: Seat, rounds: int) -> tuple[float, list[float]]:
    """Return the current from edge to edge, and the current through each cell.

    Stones of the player conduct well, free cells badly, the other player's stones not at all.
    """
    size, mine = side_of(board), "XO"[seat]
    begin, end = edges(size, seat)
    cells = range(size * size)
    flow = [12.0 if board[n] == mine else 1.0 if board[n] == "." else 0.0 for n in cells]
    around = [
        [
            (other, 2 / (1 / flow[n] + 1 / flow[other]))
            for other in neighbours(size)[n]
            if flow[other]
        ]
        if flow[n]
        else []
        for n in cells
    ]
    span = size - 1
    level = [
        1 - ((n // size) if seat == 0 else (n % size)) / span if flow[n] else 0.0 for n in cells
    ]
    total = [
        sum(weight for _, weight in around[n]) + 2 * flow[n] * ((n in begin) + (n in end))
        for n in cells
    ]
    order = [n for n in cells if total[n]]
    for _ in range(rounds):
        for n in order:
            inflow = sum(weight * level[other] for other, weight in around[n])
            if n in begin:
                inflow += 2 * flow[n]
            level[n] += 1.5 * (inflow / total[n] - level[n])
    through = [
        sum(weight * abs(level[n] - level[other]) for other, weight in around[n])
        + (2 * flow[n] * (1 - level[n]) if n in begin else 0)
        + (2 * flow[n] * level[n] if n in end else 0)
        for n in cells
    ]
    current = sum(2 * flow[n] * (1 - level[n]) for n in begin)
    return current, through


def circuit_bot(tried: int, rounds: int) -> Any:
    """Return a bot that tries the cells with most current, and keeps the best for its circuit."""

    def choose(state: str, seat: Seat, rng: Rng) -> str:
        size = side_of(state)
        _, mine = potentials(state, seat, rounds)
        _, theirs = potentials(state, 1 - seat, rounds)
        free = rng.shuffled([n for n, stone in enumerate(state) if stone == "."])
        free.sort(key=lambda n: -(mine[n] + theirs[n]))
        best, best_worth = free[0], float("-inf")
        for cell in free[: max(1, round(tried * Effort.share))]:
            board = f"{state[:cell]}{'XO'[seat]}{state[cell + 1 :]}"
            if chain(board, seat):
                return names(size)[cell]
            gain, loss = potentials(board, seat, rounds)[0], potentials(board, 1 - seat, rounds)[0]
            worth = gain / (loss + 1e-9)
            if worth > best_worth:
                best, best_worth = cell, worth
        return names(size)[best]

    return choose


GAME.bots = {
    "house-easy": circuit_bot(1, 6),
    "house": circuit_bot(6, 15),
    "house-best": circuit_bot(60, 25),
}
