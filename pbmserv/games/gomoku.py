"""Gomoku with the opening swap-2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.game import (
    LETTERS,
    After,
    Bot,
    Effort,
    Game,
    Grid,
    No,
    Option,
    Piece,
    Result,
    Rng,
    Seat,
    draw,
    win,
)

SIZE = 15
CELLS = tuple(f"{LETTERS[n % SIZE]}{SIZE - n // SIZE}" for n in range(SIZE * SIZE))
PLACE = {name: n for n, name in enumerate(CELLS)}
STONES = {
    "X": Piece("X", "black stone", None, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "white stone", None, "\N{WHITE CIRCLE}"),
}
STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
NAME = re.compile(r"[A-O](?:1[0-5]|[1-9])(?![0-9])", re.IGNORECASE)


def lines(length: int) -> list[tuple[int, ...]]:
    """Return all lines of so many cells."""
    runs = []
    for row in range(SIZE):
        for column in range(SIZE):
            for right, down in STEPS:
                x, y = column + (length - 1) * right, row + (length - 1) * down
                if 0 <= x < SIZE and 0 <= y < SIZE:
                    start, step = row * SIZE + column, down * SIZE + right
                    runs.append(tuple(start + n * step for n in range(length)))
    return runs


FIVES = lines(5)
THROUGH = [[line for line in FIVES if cell in line] for cell in range(SIZE * SIZE)]


@dataclass(frozen=True)
class Stones:
    """A position.

    Attributes:
        board: row by row from the top.
        black: the seat that has black; `None` until it is chosen.
        stage: "three", "choose", "pick" or "play".
        exact: whether six or more in a row do not win.
        won: the stones of a winning row; empty before.
    """

    board: str
    black: Seat | None
    stage: str
    exact: bool
    won: tuple[int, ...] = ()

    def stone(self, seat: Seat) -> str:
        return "X" if seat == self.black else "O"

    def to_move(self) -> str:
        """Return the stone that is played next."""
        return "X" if self.board.count("X") == self.board.count("O") else "O"


def five(board: str, cell: int, *, exact: bool) -> tuple[int, ...]:
    """Return the row of five or more through a stone that has just been played."""
    stone, column, row = board[cell], cell % SIZE, cell // SIZE
    for right, down in STEPS:
        stones = [cell]
        for sign in (1, -1):
            x, y = column + sign * right, row + sign * down
            while 0 <= x < SIZE and 0 <= y < SIZE and board[y * SIZE + x] == stone:
                stones.append(y * SIZE + x)
                x, y = x + sign * right, y + sign * down
        if len(stones) == 5 or (len(stones) > 5 and not exact):
            return tuple(sorted(stones))
    return ()


class Gomoku(Game[Stones]):
    """Place stones in turn; the first with five in a row wins.

    Take turns to put a stone on a free crossing, from A1 at the lower left to O15. Five stones of
    one colour in a row, a column or a diagonal win.

    Because the first move is worth too much, the opening is "swap-2": the first player puts three
    stones on the board, black, white, black. The second player replies "black" or "white" to choose
    a colour, or with two more stones, white and black; then the first player chooses a colour.
    White moves next whenever there is one black stone more.
    """

    key, title = "gomoku", "Gomoku"
    options = (
        Option("opening", "how the game begins", ("swap2", "free"), "swap2"),
        Option("exact", "six or more in a row do not win", (False, True), False),
    )
    words = ("black", "white")

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Stones:
        free = options["opening"] == "free"
        stage, black = ("play", 0) if free else ("three", None)
        return Stones("." * SIZE * SIZE, black, stage, options["exact"])

    def wanted(self, state: Stones) -> int:
        """Return the number of stones in a move."""
        return {"three": 3, "choose": 2}.get(state.stage, 1)

    def moves(self, state: Stones, seat: Seat) -> Iterable[str]:
        if state.stage in {"choose", "pick"}:
            yield from ("black", "white")
        if state.stage == "pick":
            return
        free = [n for n, stone in enumerate(state.board) if stone == "."]
        count = self.wanted(state)
        for n in range(len(free)):
            yield " ".join(CELLS[free[(n + k * 17) % len(free)]] for k in range(count))

    def read(self, state: Stones, seat: Seat, text: str) -> str:
        word = text.strip(" .!").casefold()
        if word in self.words:
            if state.stage in {"choose", "pick"}:
                return word
            if state.black is None:
                raise No("Place your stones first; then your opponent chooses a colour.")
            raise No("The colours are chosen already.")
        if state.stage == "pick":
            raise No("Choose a colour: reply black or white.")
        cells = [name.upper() for name in NAME.findall(text)]
        count = self.wanted(state)
        if len(cells) != count or len(set(cells)) != count:
            stones = {1: "one free crossing", 2: "two, for white and black"}.get(
                count, "three, for black, white and black"
            )
            example = next(move for move in self.moves(state, seat) if move not in self.words)
            colour = ", or reply black or white" if state.stage == "choose" else ""
            raise No(f"Name {stones}, such as {example}{colour}.")
        for name in cells:
            if state.board[PLACE[name]] != ".":
                raise No(f"There is a stone on {name}.")
        return " ".join(cells)

    def play(self, state: Stones, seat: Seat, move: str, rng: Rng) -> Stones | After[Stones]:
        if move in self.words:
            black = seat if move == "black" else 1 - seat
            after = replace(state, black=black, stage="play")
            mover = black if after.to_move() == "X" else 1 - black
            return After(after, [f"{{{seat}}} chose {move}."], next=[mover])
        for name in move.split():
            at, stone = PLACE[name], state.to_move()
            state = replace(state, board=f"{state.board[:at]}{stone}{state.board[at + 1 :]}")
            state = replace(state, won=state.won or five(state.board, at, exact=state.exact))
        if state.stage == "play":
            return state
        following = {"three": "choose", "choose": "pick"}[state.stage]
        return After(replace(state, stage=following, won=()), [f"{{{seat}}} placed {move}."])

    def over(self, state: Stones) -> Result | None:
        if state.won and state.black is not None:
            stone = state.board[state.won[0]]
            return win(state.black if stone == "X" else 1 - state.black, "five in a row")
        return None if "." in state.board else draw("the board is full")

    def show(self, state: Stones, seat: Seat | None) -> list[Grid | str]:
        rows = [state.board[n : n + SIZE] for n in range(0, SIZE * SIZE, SIZE)]
        lines = [str(SIZE - n) for n in range(SIZE)]
        stones = STONES
        if state.black is not None:
            owners = {"X": state.black, "O": 1 - state.black}
            stones = {key: replace(stone, seat=owners[key]) for key, stone in STONES.items()}
        won = [CELLS[cell] for cell in state.won]
        return [Grid(rows, stones, lines=lines, shape="lines", strong=won)]

    def ask(self, state: Stones, seat: Seat) -> str:
        return {
            "three": "Reply with three crossings for a black, a white and a black stone, such as "
            "H8 I9 G7. Your opponent then chooses a colour.",
            "choose": "Reply black or white to choose a colour, or with two crossings for a white "
            "and a black stone; then your opponent chooses.",
            "pick": "Reply black or white to choose a colour.",
        }.get(state.stage, f"Reply with a free crossing from A1 to {LETTERS[SIZE - 1]}{SIZE}.")


GAME = Gomoku()

# -- the bots -------------------------------------------------------------------------------------

WORTH = (0, 1, 12, 120, 1_500, 100_000)
"""The worth of a line of five with so many stones of one colour and none of the other."""


def gains(board: str, stone: str) -> list[tuple[float, int]]:
    """Return the free crossings near stones with their worth for a stone, the best first."""
    other = "O" if stone == "X" else "X"
    worths = []
    for cell, there in enumerate(board):
        if there != ".":
            continue
        worth = 0.0
        for line in THROUGH[cell]:
            content = [board[n] for n in line]
            mine, theirs = content.count(stone), content.count(other)
            if not theirs:
                worth += WORTH[mine + 1] - WORTH[mine]
            if not mine:
                worth += 0.9 * (WORTH[theirs + 1] - WORTH[theirs])
        worths.append((worth, cell))
    worths.sort(reverse=True)
    return worths


def balance(board: str, stone: str) -> float:
    """Estimate a position for the colour that is not to move."""
    other = "O" if stone == "X" else "X"
    total = 0.0
    for line in FIVES:
        content = [board[n] for n in line]
        mine, theirs = content.count(stone), content.count(other)
        if mine and not theirs:
            total += WORTH[mine]
        elif theirs and not mine:
            total -= 1.6 * WORTH[theirs]
    return total


def opening(rng: Rng) -> str:
    """Return three stones that leave both colours a chance."""
    choices = ("H8 I9 L5", "H8 H9 D12", "G8 I8 K12", "H8 J9 E4", "I7 H8 D3")
    return rng.choice(choices)


def value(board: str, stone: str, left: int, width: int, alpha: float, beta: float) -> float:
    """Return the worth for the colour to move, so many moves ahead, the best *width* of each."""
    other = "O" if stone == "X" else "X"
    if left == 0:
        return -balance(board, other)
    best = float("-inf")
    for worth, cell in gains(board, stone)[:width]:
        after = f"{board[:cell]}{stone}{board[cell + 1 :]}"
        if worth >= WORTH[5] - WORTH[4] and five(after, cell, exact=False):
            return 1e6 + left
        best = max(best, -value(after, other, left - 1, width, -beta, -max(alpha, best)))
        if best >= beta:
            break
    return best


def chosen_colour(board: str, to_move: str) -> str:
    """Return the better colour; *to_move* is the stone that is played next."""
    mover, other = ("black", "white") if to_move == "X" else ("white", "black")
    return mover if balance(board, to_move) > -20 else other


def bot(width: int, depth: int) -> Bot[Stones]:
    """Return a bot that looks *depth* moves ahead, at the best *width* moves of each position."""

    def choose(state: Stones, seat: Seat, rng: Rng) -> str:
        board = state.board
        if state.stage == "three":
            return opening(rng)
        if state.stage in {"choose", "pick"}:
            return chosen_colour(board, state.to_move())
        if set(board) == {"."}:
            return "H8"
        stone, other = state.stone(seat), state.stone(1 - seat)
        candidates = gains(board, stone)
        if depth == 0 or Effort.share < 1:
            near = [cell for worth, cell in candidates if worth >= 0.97 * candidates[0][0]]
            return CELLS[rng.choice(near)]
        worths: list[tuple[float, int, int]] = []
        alpha = float("-inf")
        for _, cell in candidates[:width]:
            after = f"{board[:cell]}{stone}{board[cell + 1 :]}"
            if five(after, cell, exact=state.exact):
                return CELLS[cell]
            worth = -value(after, other, depth - 1, width, float("-inf"), -alpha)
            worths.append((worth, -len(worths), cell))
            alpha = max(alpha, worth)
        return CELLS[max(worths)[2]]

    return choose


GAME.bots = {"house-easy": bot(1, 0), "house": bot(5, 3), "house-best": bot(8, 5)}
