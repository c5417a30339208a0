"""Connect Four, with a bot that reads ahead on two numbers of bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pbmserv.game import LETTERS, Game, Grid, Piece, Result, Rng, Seat, draw, win

WIDTH, HEIGHT = 7, 6
DISCS = {
    "X": Piece("X", "X", 0, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "O", 1, "\N{WHITE CIRCLE}"),
}
STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
LINES = [
    tuple((column + n * right, row + n * up) for n in range(4))
    for column in range(WIDTH)
    for row in range(HEIGHT)
    for right, up in STEPS
    if column + 3 * right < WIDTH and 0 <= row + 3 * up < HEIGHT
]

Columns = tuple[str, ...]
"""The discs in each column, from below."""


class ConnectFour(Game[Columns]):
    """Four discs in a row win.

    Take turns to drop a disc into one of the seven columns, A to G. It falls on the discs that lie
    there. Four of your discs in a row, a column or a diagonal win; if all columns are full, it is a
    draw.
    """

    key, title = "connect4", "Connect Four"

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Columns:
        return ("",) * WIDTH

    def moves(self, state: Columns, seat: Seat) -> Iterable[str]:
        return [LETTERS[n] for n in MIDDLE_FIRST if len(state[n]) < HEIGHT]

    def play(self, state: Columns, seat: Seat, move: str, rng: Rng) -> Columns:
        at = LETTERS.index(move)
        return (*state[:at], state[at] + "XO"[seat], *state[at + 1 :])

    def line(self, state: Columns) -> tuple[tuple[int, int], ...]:
        """Return the cells of four discs in a row."""
        for line in LINES:
            discs = {state[column][row : row + 1] for column, row in line}
            if len(discs) == 1 and discs != {""}:
                return line
        return ()

    def over(self, state: Columns) -> Result | None:
        for seat, disc in enumerate("XO"):
            if has_four(bits(state, disc)):
                return win(seat, "four in a row")
        return draw("the board is full") if min(map(len, state)) == HEIGHT else None

    def show(self, state: Columns, seat: Seat | None) -> Grid:
        rows = [
            [state[column][row : row + 1] or "." for column in range(WIDTH)]
            for row in reversed(range(HEIGHT))
        ]
        return Grid(
            rows,
            DISCS,
            lines=[str(row + 1) for row in reversed(range(HEIGHT))],
            strong=[f"{LETTERS[column]}{row + 1}" for column, row in self.line(state)],
        )

    def ask(self, state: Columns, seat: Seat) -> str:
        free = [LETTERS[n] for n in range(WIDTH) if len(state[n]) < HEIGHT]
        return f"Reply with a column: {', '.join(free)}."


MIDDLE_FIRST = sorted(range(WIDTH), key=lambda column: abs(column - WIDTH // 2))
GAME = ConnectFour()

# -- the bots. A board is two numbers; bit 7 * column + row is a disc, and row 6 stays empty. -----


def bits(state: Columns, disc: str) -> int:
    """Return the discs of one player as bits."""
    return sum(
        1 << (7 * column + row)
        for column, discs in enumerate(state)
        for row, one in enumerate(discs)
        if one == disc
    )


def has_four(discs: int) -> bool:
    """Whether four of these discs are in a row."""
    for step in (1, 7, 6, 8):
        pairs = discs & (discs >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False
