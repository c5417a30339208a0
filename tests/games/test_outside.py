"""A game that was written by docs/games.md alone, and shows what other authors need.

Its board has cells between the named rows and columns, and its moves are names of such cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from pbmserv.game import After, Game, Grid, Piece, ranked
from pbmserv.testing import check_game
from pbmserv.testing.server import server

LETTERS = "ABC"
ANNA, BELA, CARL = (f"{name}@players.example" for name in ("anna", "bela", "carl"))


@dataclass(frozen=True)
class Paper:
    """The lines that are drawn, and the owner of each closed field."""

    lines: frozenset[str]
    owners: tuple[int | None, ...]
    seats: int


def sides(column: int, row: int) -> set[str]:
    """The four lines around a field."""
    west, east = LETTERS[column : column + 2]
    north, south = row + 1, row + 2
    return {
        f"{west}{north}{east}{north}",
        f"{west}{south}{east}{south}",
        f"{west}{north}{west}{south}",
        f"{east}{north}{east}{south}",
    }


FIELDS = list(product(range(2), range(2)))
LINES = sorted(set().union(*(sides(*field) for field in FIELDS)))


class Dots(Game[Paper]):
    """Join dots, and own the fields that you close.

    Draw a line between two dots that are next to each other, such as A1B1 or A1A2. If it is the
    fourth side of a field, you own that field and draw again. The most fields win.
    """

    key, title, seats = "dots", "Dots", (2, 4)

    def start(self, seats, options, rng):
        return Paper(frozenset(), (None,) * len(FIELDS), seats)

    def moves(self, state, seat):
        return [line for line in LINES if line not in state.lines]

    def play(self, state, seat, move, rng):
        lines = state.lines | {move}
        closed = [not sides(*field) - lines for field in FIELDS]
        owners = tuple(
            seat if is_closed and owner is None else owner
            for is_closed, owner in zip(closed, state.owners, strict=True)
        )
        after = Paper(lines, owners, state.seats)
        if owners == state.owners:
            return after
        return After(after, [f"{{{seat}}} drew {move} and closed a field."], next=[seat])

    def over(self, state):
        if None in state.owners:
            return None
        counts = [state.owners.count(seat) for seat in range(state.seats)]
        return ranked(counts, "all fields are closed")

    def show(self, state, seat):
        names, rows = {}, []
        for row, column in product(range(5), range(5)):
            at = LETTERS[column // 2] + str(row // 2 + 1)
            to = LETTERS[(column + 1) // 2] + str((row + 1) // 2 + 1)
            if (row + column) % 2:
                names[row, column] = at + to
            key = "+" if at == to else "." if at + to not in state.lines else "|-"[row % 2 == 0]
            if row % 2 and column % 2:
                owner = state.owners[FIELDS.index((column // 2, row // 2))]
                key = "." if owner is None else str(owner)
            rows.append(key)
        pieces = {key: Piece(key, say) for key, say in (("+", "dot"), ("-", "line"), ("|", "line"))}
        pieces |= {str(n): Piece("XOZY"[n], "field", seat=n) for n in range(state.seats)}
        grid = ["".join(rows[n : n + 5]) for n in range(0, 25, 5)]
        columns, lines = ["A", "", "B", "", "C"], ["1", "", "2", "", "3"]
        return Grid(grid, pieces, columns=columns, lines=lines, names=names)


def test_it_keeps_the_contract() -> None:
    assert check_game(Dots(), 2).listed == []


def test_cells_without_a_name_are_shown_and_moves_with_the_name_of_a_cell_are_framed() -> None:
    with server(Dots()) as mails:
        mails.challenge("dots", ["anna", "bela", "carl"])
        for player, move in ((ANNA, "a1b1"), (BELA, "A1-A2"), (CARL, "b1 b2"), (ANNA, "A2B2")):
            mails.reply(mails.newest(player), move)
        letter = mails.newest(BELA)
        assert "anna drew A2B2 and closed a field." in letter.text
        rows = [line.strip() for line in letter.text.splitlines() if "|" in line]
        assert rows[:3] == ["1 | + | - | + |   | + |", "| | | X | | |   |   |", rows[2]]
        assert rows[2] == "2 | + |(-)| + |   | + |"
        mails.reply(mails.newest(BELA), "resign")
        assert "bela resigned." in mails.newest(CARL).text
        assert "Your move" not in mails.newest(CARL).subject, "anna has another turn"


def test_a_game_for_two_cannot_be_played_alone() -> None:
    with server(Dots()) as mails:
        mails.sign_up("anna")
        (refusal,) = mails.send(ANNA, "dots solo anna wonder-land")
        assert "Dots is for 2 to 4 players." in refusal.text
