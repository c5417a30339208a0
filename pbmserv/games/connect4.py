"""Connect Four, with a bot that reads ahead on two numbers of bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pbmserv.game import LETTERS, Effort, Game, Grid, Piece, Result, Rng, Seat, draw, win

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
    """Drop discs into columns; the first with four in a row wins.

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
        for row, owner in enumerate(discs)
        if owner == disc
    )


def has_four(discs: int) -> bool:
    """Whether four of these discs are in a row."""
    for step in (1, 7, 6, 8):
        pairs = discs & (discs >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False


COLUMN = 0b111111
BOTTOM = sum(1 << (7 * column) for column in range(WIDTH))
BOARD = BOTTOM * COLUMN
MIDDLE = COLUMN << (7 * (WIDTH // 2))
WON = 1_000


def winning_cells(mine: int, taken: int) -> int:
    """Return the free cells that would make four in a row."""
    cells = (mine << 1) & (mine << 2) & (mine << 3)
    for step in (7, 6, 8):
        pair = (mine << step) & (mine << 2 * step)
        cells |= pair & (mine << 3 * step)
        cells |= pair & (mine >> step)
        pair = (mine >> step) & (mine >> 2 * step)
        cells |= pair & (mine << step)
        cells |= pair & (mine >> 3 * step)
    return cells & (BOARD ^ taken)


def cells_that_do_not_lose(theirs: int, taken: int) -> int:
    """Return the cells after which the other player does not win at once."""
    cells = (taken + BOTTOM) & BOARD
    threats = winning_cells(theirs, taken)
    forced = cells & threats
    if forced & (forced - 1):
        return 0
    return (forced or cells) & ~(threats >> 1)


class Spent(Exception):
    """The bot has looked at as many positions as it may."""


class Search:
    """Reads ahead; from the middle of a game on to its end, so that the bot plays perfectly."""

    def __init__(self, nodes: int) -> None:
        self.left = nodes
        self.is_proved = True
        self.known: dict[tuple[int, int, int], tuple[int, int]] = {}

    def value(self, mine: int, theirs: int, depth: int, alpha: int, beta: int) -> int:
        """Return the worth for the player to move, who cannot win at once."""
        self.left -= 1
        if self.left < 0:
            raise Spent
        taken = mine | theirs
        if taken == BOARD:
            return 0
        cells = cells_that_do_not_lose(theirs, taken)
        if not cells:
            return -WON - depth
        if depth <= 0:
            self.is_proved = False
            return self.guess(mine, theirs, taken)
        key = (mine, theirs, depth)
        low, high = self.known.get(key, (-2 * WON, 2 * WON))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        best = self.best_of(mine, theirs, cells, depth, alpha, beta)
        if best >= beta:
            low = max(low, best)
        elif best <= alpha:
            high = min(high, best)
        else:
            low = high = best
        self.known[key] = (low, high)
        return best

    def best_of(self, mine: int, theirs: int, cells: int, depth: int, alpha: int, beta: int) -> int:
        """Return the worth of the best of these cells."""
        taken, best = mine | theirs, -2 * WON
        for cell in self.ordered(mine, taken, cells):
            after = mine | cell
            if self.has_two(after, taken | cell):
                worth = WON + depth - 2
            else:
                worth = -self.next_value(theirs, after, depth - 1, -beta, -max(alpha, best))
            best = max(best, worth)
            if best >= beta:
                break
        return best

    def next_value(self, mine: int, theirs: int, depth: int, alpha: int, beta: int) -> int:
        """Return the worth for the player to move."""
        taken = mine | theirs
        if winning_cells(mine, taken) & (taken + BOTTOM) & BOARD:
            return WON + depth
        return self.value(mine, theirs, depth, alpha, beta)

    def has_two(self, mine: int, taken: int) -> bool:
        """Whether the player can win at once in two columns, of which one can be stopped."""
        wins = winning_cells(mine, taken) & (taken + BOTTOM) & BOARD
        theirs = taken ^ mine
        is_late = winning_cells(theirs, taken) & (taken + BOTTOM) & BOARD
        return bool(wins & (wins - 1)) and not is_late

    def ordered(self, mine: int, taken: int, cells: int) -> list[int]:
        """Return the cells to play, those with most threats first."""
        listed = [
            cells & (COLUMN << (7 * column)) for column in MIDDLE_FIRST
            if cells & (COLUMN << (7 * column))
        ]  # fmt: skip
        listed.sort(key=lambda cell: -winning_cells(mine | cell, taken | cell).bit_count())
        return listed

    def guess(self, mine: int, theirs: int, taken: int) -> int:
        """Estimate a position: threats, and discs in the middle."""
        threats = winning_cells(mine, taken).bit_count() - winning_cells(theirs, taken).bit_count()
        middle = (mine & MIDDLE).bit_count() - (theirs & MIDDLE).bit_count()
        return 8 * threats + middle


def best_column(state: Columns, seat: Seat, rng: Rng, nodes: int) -> int:
    """Return the best column that a search within a budget finds."""
    mine, theirs = bits(state, "XO"[seat]), bits(state, "OX"[seat])
    taken = mine | theirs
    free = [column for column in MIDDLE_FIRST if len(state[column]) < HEIGHT]
    wins = winning_cells(mine, taken)
    for column in free:
        if wins & (1 << (7 * column + len(state[column]))):
            return column
    if not taken:
        return WIDTH // 2
    search = Search(nodes)
    order = rng.shuffled(free)
    order.sort(key=lambda column: abs(column - WIDTH // 2))
    best = order[0]
    for depth in range(1, WIDTH * HEIGHT - taken.bit_count() + 1):
        search.is_proved = True
        scored: list[tuple[int, int]] = []
        alpha = -2 * WON
        try:
            for column in order:
                after = mine | 1 << (7 * column + len(state[column]))
                worth = -search.next_value(theirs, after, depth, -2 * WON, -alpha)
                scored.append((worth, column))
                alpha = max(alpha, worth)
        except Spent:
            break
        scored.sort(key=lambda pair: -pair[0])
        order = [column for _, column in scored]
        best = order[0]
        if search.is_proved or abs(scored[0][0]) >= WON:
            break
    return best


def bot(nodes: int) -> Any:
    """Return a bot that looks at so many positions."""

    def choose(state: Columns, seat: Seat, rng: Rng) -> str:
        return LETTERS[best_column(state, seat, rng, max(30, round(nodes * Effort.share)))]

    return choose


GAME.bots = {"house-easy": bot(60), "house": bot(3_000), "house-best": bot(60_000)}
