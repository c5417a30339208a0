"""The boxes of Blackbox boards, which no letter shows before the end, and their solutions."""

from __future__ import annotations

from one_process import Server

from pbmserv.games.blackbox.game_ids import GameId, atoms_of, read_id
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.store.boards import boards


def box_of(server: Server, number: int | None) -> GameId:
    """Return the box of a board on which all seats have the same one."""
    assert number is not None
    with server.database.reading.connect() as connection:
        board = boards.load(connection, number)
    assert board is not None
    (word,) = [word for word in board.options if word.startswith("-id=")]
    return read_id(word.removeprefix("-id="))


def atoms_in(box: GameId) -> list[str]:
    """Return the names of the cells with an atom."""
    cells = geometry(box.width, box.height)
    return [cells.name(cell) for cell in sorted(atoms_of(box))]


def solution(box: GameId) -> str:
    """Return the move that guesses all atoms of a box."""
    return ",".join((*(f"+{cell}" for cell in atoms_in(box)), "?"))
