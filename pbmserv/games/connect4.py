"""Connect Four, with a best bot that keeps a win or a draw.

It plays from a book, or searches all continuations, on two numbers of bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from pbmserv.game import (
    LETTERS,
    Bot,
    Effort,
    Game,
    Grid,
    Piece,
    Result,
    Rng,
    Seat,
    alpha_beta,
    draw,
    win,
)

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
    words = tuple(LETTERS[:WIDTH])

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
    """Return whether four of these discs are in a row."""
    for step in (1, 7, 6, 8):
        pairs = discs & (discs >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False


COLUMN = 0b111111
BOTTOM = sum(1 << (7 * column) for column in range(WIDTH))
BOARD = BOTTOM * COLUMN
EVEN_ROWS = BOTTOM * 0b101010
COLUMNS = [COLUMN << (7 * column) for column in MIDDLE_FIRST]
MIDDLE = COLUMNS[0]
QUICK_WINS = (1, 2, 3)
"""Moves before the winning one, in the wins that the best bot looks for first."""


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
    """A proof has looked at as many positions as it may."""


class Proof:
    """A search of all continuations, which finds out whether a player can win or at least draw."""

    def __init__(self, nodes: int) -> None:
        self.left = nodes
        self.known: dict[int, bool] = {}

    def column(self, mine: int, theirs: int) -> int:
        """Return the first column that keeps a win or else a draw for the player to move, or that
        takes longest to refute if all lose.

        The player cannot win at once, and has a move after which the other one cannot either.
        """
        taken = mine | theirs
        cells = cells_that_do_not_lose(theirs, taken)
        efforts: dict[int, int] = {}
        for wants_win in (True, False):
            self.known = {}
            for cell, threats in with_threats(mine, taken, cells):
                before = self.left
                if not self.holds(theirs, mine | cell, threats, not wants_win):
                    return column_of(cell)
                efforts[cell] = before - self.left
        return column_of(max(efforts, key=lambda cell: efforts[cell]))

    def holds(self, mine: int, theirs: int, threats: int, wants_win: bool) -> bool:
        """Return whether the player to move, who cannot win at once, can win or at least draw.

        Args:
            threats: the free cells with which the other player makes four in a row.
            wants_win: whether a draw is not enough.
        """
        self.left -= 1
        if self.left < 0:
            raise Spent
        taken = mine | theirs
        if taken == BOARD:
            return not wants_win
        cells = (taken + BOTTOM) & BOARD
        forced = cells & threats
        if forced & (forced - 1):
            return False
        cells = (forced or cells) & ~(threats >> 1)
        if not cells:
            return False
        result = settled(mine, theirs, wants_win)
        if result is not None:
            return result
        key = mine + taken  # which is different for each position
        known = self.known
        if key in known:
            return known[key]
        for column in COLUMNS:
            if (cell := cells & column) and known.get(theirs + (taken | cell)) is False:
                known[key] = True
                return True
        known[key] = result = any(
            not self.holds(theirs, mine | cell, new_threats, not wants_win)
            for cell, new_threats in with_threats(mine, taken, cells)
        )
        return result


def settled(mine: int, theirs: int, wants_win: bool) -> bool | None:
    """Return what `Proof.holds` returns if that is easy to see, else `None`."""
    if not has_four(BOARD ^ (theirs if wants_win else mine)):
        return not wants_win  # the player who wants to win has no room for four in a row
    taken = mine | theirs
    if (taken + BOTTOM) & EVEN_ROWS:
        return None
    free = BOARD ^ taken  # the other player can answer in the same column to the end
    if has_four(mine | free & ~EVEN_ROWS):
        return None
    return False if wants_win or has_four(theirs | free & EVEN_ROWS) else None


def with_threats(mine: int, taken: int, cells: int) -> list[tuple[int, int]]:
    """Return the cells to play and the threats that follow, those with most threats first."""
    listed = [
        (cell, winning_cells(mine | cell, taken | cell))
        for column in COLUMNS
        if (cell := cells & column)
    ]
    listed.sort(key=lambda one: -one[1].bit_count())
    return listed


def column_of(cell: int) -> int:
    return (cell.bit_length() - 1) // 7


def forced(mine: int, taken: int, moves: int) -> int | None:
    """Return a column with which the player to move wins whatever the other one does, or `None`.

    Args:
        moves: how many moves the player may need before the winning one.
    """
    cells = cells_that_do_not_lose(mine ^ taken, taken)
    for cell, threats in with_threats(mine, taken, cells):
        then, filled = mine | cell, taken | cell
        if not threats:
            continue
        replies = cells_that_do_not_lose(then, filled)
        if moves == 1 and replies:
            continue
        after_replies = [filled | reply for column in COLUMNS if (reply := replies & column)]
        if all(forced(then, after, moves - 1) is not None for after in after_replies):
            return column_of(cell)
    return None


def mirrored(position: int) -> int:
    """Return bits with their columns in reverse order."""
    return sum((position >> 7 * column & 0x7F) << 7 * (6 - column) for column in range(WIDTH))


@cache
def book() -> Mapping[int, int]:
    """Return the columns to play where a proof takes too long, by the keys of `Proof.known`.

    Each line of the file is a key and a column. Of two positions that mirror each other it has the
    one with the lower key. `generators/connect4.c` writes it.
    """
    lines = Path(__file__).with_name("connect4.book").read_text("ascii").splitlines()
    return {int(key, 16): LETTERS.index(column) for key, column in map(str.split, lines)}


def either_way(mine: int, theirs: int, find: Callable[[int, int], int]) -> int:
    """Return the column that *find* returns for a position.

    *find* gets the position or its mirror image, whichever has the lower key.
    """
    if mirrored(2 * mine + theirs) >= 2 * mine + theirs:
        return find(mine, theirs)
    return WIDTH - 1 - find(mirrored(mine), mirrored(theirs))


def outlook(state: Columns, seat: Seat) -> float:
    """Estimate a position for a player: threats, and discs in the middle."""
    mine, theirs = bits(state, "XO"[seat]), bits(state, "OX"[seat])
    taken = mine | theirs
    threats = winning_cells(mine, taken).bit_count() - winning_cells(theirs, taken).bit_count()
    return 8 * threats + (mine & MIDDLE).bit_count() - (theirs & MIDDLE).bit_count()


def best_column(state: Columns, seat: Seat, rng: Rng, nodes: int, proof: int) -> int:
    """Return the best column that can be found.

    Args:
        nodes: how many positions to look at for a plan.
        proof: how many to look at for a proof, whose place the plan takes if they do not suffice; 0
            for no proof.
    """
    mine, theirs = bits(state, "XO"[seat]), bits(state, "OX"[seat])
    if wins := winning_cells(mine, mine | theirs) & ((mine | theirs) + BOTTOM) & BOARD:
        return column_of(wins)
    if not mine | theirs:
        return WIDTH // 2
    if proof:
        try:
            return either_way(mine, theirs, partial(perfect_column, proof=proof))
        except Spent:
            pass
    move = alpha_beta(GAME, state, seat, rng, nodes=nodes, evaluate=outlook)
    return LETTERS.index(move)


def perfect_column(mine: int, theirs: int, proof: int) -> int:
    """Return a column that keeps a win or else a draw for a player who cannot win at once.

    `generators/connect4.c` plays games against this function in which the other player does
    anything.

    Args:
        proof: how many positions to look at for a proof.

    Raises:
        Spent: these do not suffice.
    """
    taken = mine | theirs
    if not cells_that_do_not_lose(theirs, taken):
        free = (taken + BOTTOM) & BOARD
        cells = free & winning_cells(theirs, taken) or free
        return column_of(with_threats(mine, taken, cells)[0][0])
    for moves in QUICK_WINS:
        if (column := forced(mine, taken, moves)) is not None:
            return column
    column = book().get(2 * mine + theirs)
    return Proof(proof).column(mine, theirs) if column is None else column


def bot(nodes: int, proof: int = 0) -> Bot[Columns]:
    """Return a bot that looks at so many positions; see `best_column`."""

    def choose(state: Columns, seat: Seat, rng: Rng) -> str:
        return LETTERS[best_column(state, seat, rng, nodes, round(proof * Effort.share))]

    return choose


GAME.bots = {"house-easy": bot(60), "house": bot(8_000), "house-best": bot(30_000, 400_000)}
