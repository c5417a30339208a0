"""Reversi."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import isqrt
from typing import Any

from pbmserv.game import LETTERS, Game, Grid, Option, Piece, Result, Rng, Seat, levels, ranked

DISCS = {
    "X": Piece("X", "black disc", 0, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "white disc", 1, "\N{WHITE CIRCLE}"),
}


@cache
def names(size: int) -> tuple[str, ...]:
    """Return the names of all cells, row by row."""
    return tuple(f"{LETTERS[n % size]}{n // size + 1}" for n in range(size * size))


@cache
def rays(size: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the cells behind each cell in each of eight directions."""
    steps = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
    rays_by_cell = []
    for cell in range(size * size):
        around = []
        for right, down in steps:
            x, y, ray = cell % size + right, cell // size + down, []
            while 0 <= x < size and 0 <= y < size:
                ray.append(y * size + x)
                x, y = x + right, y + down
            if len(ray) > 1:
                around.append(tuple(ray))
        rays_by_cell.append(tuple(around))
    return tuple(rays_by_cell)


def side_of(board: str) -> int:
    """Return the number of rows of a board."""
    return isqrt(len(board))


def turned(board: str, seat: Seat, cell: int) -> Iterator[int]:
    """Yield the discs that a move turns."""
    mine, theirs = ("X", "O") if seat == 0 else ("O", "X")
    for ray in rays(side_of(board))[cell]:
        if board[ray[0]] != theirs:
            continue
        for count, there in enumerate(ray):
            if board[there] == mine:
                yield from ray[:count]
                break
            if board[there] == ".":
                break


def worth(board: str, seat: Seat) -> float:
    """Estimate a position: corners and freedom to move first, discs last."""
    size = side_of(board)
    corners = (0, size - 1, size * (size - 1), size * size - 1)
    mine, theirs = ("X", "O") if seat == 0 else ("O", "X")
    score = 0.0
    for corner in corners:
        score += 30 * ((board[corner] == mine) - (board[corner] == theirs))
        if board[corner] == ".":
            right, down = (1 if corner % size == 0 else -1), (size if corner < size else -size)
            beside = board[corner + right + down]
            score -= 12 * ((beside == mine) - (beside == theirs))
    free = [cell for cell, disc in enumerate(board) if disc == "."]
    for side, sign in ((seat, 1), (1 - seat, -1)):
        score += 3 * sign * sum(any(True for _ in turned(board, side, cell)) for cell in free)
    if len(free) < size:
        score += board.count(mine) - board.count(theirs)
    return score


class Reversi(Game[str]):
    """Turn the other player's discs; whoever has most discs at the end wins.

    Black (X) begins. Put a disc on a free cell so that at least one line of your opponent's discs,
    in any of the eight directions, lies between it and another disc of yours. All discs in such
    lines turn to your colour. If you have no such cell, you pass. When neither player can move, the
    player with more discs wins.
    """

    key, title = "reversi", "Reversi"
    options = (Option("size", "rows and columns", (6, 8, 10), 8),)
    bots = levels(lambda: GAME, worth, nodes=(15, 500, 6_000))

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> str:
        size = options["size"]
        middle = size * (size // 2 - 1) + size // 2 - 1
        board = ["."] * size * size
        board[middle] = board[middle + size + 1] = "O"
        board[middle + 1] = board[middle + size] = "X"
        return "".join(board)

    def moves(self, state: str, seat: Seat) -> Iterable[str]:
        for cell, name in enumerate(names(side_of(state))):
            if state[cell] == "." and any(True for _ in turned(state, seat, cell)):
                yield name

    def play(self, state: str, seat: Seat, move: str, rng: Rng) -> str:
        cell = names(side_of(state)).index(move)
        board = list(state)
        for there in (cell, *turned(state, seat, cell)):
            board[there] = "XO"[seat]
        return "".join(board)

    def over(self, state: str) -> Result | None:
        free = [cell for cell, disc in enumerate(state) if disc == "."]
        for seat in (0, 1):
            if any(True for cell in free for _ in turned(state, seat, cell)):
                return None
        return ranked((state.count("X"), state.count("O")), "most discs")

    def show(self, state: str, seat: Seat | None) -> list[Grid | str]:
        size = side_of(state)
        rows = [state[row : row + size] for row in range(0, size * size, size)]
        count = f"{state.count('X')} discs for {{0}}, {state.count('O')} for {{1}}."
        return [Grid(rows, DISCS), count]


GAME: Game[str] = Reversi()
