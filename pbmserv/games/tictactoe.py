"""Tic-tac-toe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pbmserv.game import Game, Grid, Result, Rng, Seat, draw, win

CELLS = [column + row for row in "123" for column in "ABC"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(Game[str]):
    """Three in a row.

    Take turns to name a free cell. Three of your marks in a row, a column or a diagonal win.
    """

    key, title = "ttt", "Tic-tac-toe"

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> str:
        return "." * 9

    def moves(self, state: str, seat: Seat) -> Iterable[str]:
        return [cell for cell, mark in zip(CELLS, state, strict=True) if mark == "."]

    def play(self, state: str, seat: Seat, move: str, rng: Rng) -> str:
        at = CELLS.index(move)
        return f"{state[:at]}{'XO'[seat]}{state[at + 1 :]}"

    def line(self, state: str) -> tuple[int, ...]:
        return next((one for one in LINES if {state[n] for n in one} in ({"X"}, {"O"})), ())

    def over(self, state: str) -> Result | None:
        if line := self.line(state):
            return win("XO".index(state[line[0]]), "three in a row")
        return None if "." in state else draw("the board is full")

    def show(self, state: str, seat: Seat | None) -> Grid:
        strong = [CELLS[n] for n in self.line(state)]
        return Grid([state[:3], state[3:6], state[6:]], strong=strong)


GAME = TicTacToe()
