"""Two players at a Blackbox board of a running server, with their mails and letters."""

from __future__ import annotations

from dataclasses import dataclass

from running import Correspondence, Letter
from seating import seat_pairs

from pbmserv.store.boards import moves

ATOMS = ("b3,d3,a1,f2", "c3,b5,e5,g6")
"""The atoms that anna hides for bela, and bela for anna.

To anna: 3 and 5 are hits, 14 a reflection, 1-8 a detour. To bela: 1 and 3 are hits, 2 a
reflection, G-8 a detour.
"""

NAMES = ("t0a", "t0b")
ADDRESSES = tuple(f"{name}@players.example" for name in NAMES)
ANNA, BELA = ADDRESSES


@dataclass
class Game:
    """Start board 1 with all atoms hidden and anna to move."""

    server: Correspondence
    board: int

    def write(self, seat: int, verb: str, words: str = "", body: str = "") -> Letter:
        """Send a command in a subject, and return the answer."""
        self.read(seat)  # discard earlier letters
        command = f"blackbox {verb} {self.board} {NAMES[seat]} secret {words}".strip()
        self.server.send(ADDRESSES[seat], command, body)
        return self.server.letters(ADDRESSES[seat])[0]

    def move(self, seat: int, text: str) -> None:
        """Make a move, and discard the letters."""
        self.write(seat, "move", text)
        self.server.letters()

    def read(self, seat: int) -> list[Letter]:
        """Return the new letters to a player."""
        return self.server.letters(ADDRESSES[seat])

    def plies(self) -> list[tuple[int, str]]:
        """Return seats and texts of all plies."""
        with self.server.server.database.reading.connect() as connection:
            return [(ply.seat, ply.text) for ply in moves.record(connection, self.board)]


def begin(server: Correspondence) -> Game:
    """Return a board with all atoms hidden."""
    table = seat_pairs(server.server, 1, "t")[0]
    game = Game(server, table.board)
    for seat, atoms in enumerate(ATOMS):
        game.move(seat, atoms)
    return game
