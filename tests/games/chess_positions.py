"""Positions of chess from their usual notation, and their lines to a depth (perft)."""

from __future__ import annotations

from pbmserv.games.chess import PLACE, Position, after, legal

_CORNERS = {"K": 63, "Q": 56, "k": 7, "q": 0}


def of_fen(fen: str) -> Position:
    """Return the position of a text in Forsyth-Edwards notation."""
    board, mover, castling, passed, *_ = fen.split()
    for digit in "12345678":
        board = board.replace(digit, "." * int(digit))
    board = board.replace("/", "")
    rooks = frozenset(_CORNERS[right] for right in castling if right in _CORNERS)
    return Position(board, mover == "w", rooks, PLACE.get(passed, -1), first=board)


def perft(position: Position, depth: int) -> int:
    """Return the number of lines of so many moves."""
    if depth == 1:
        return sum(1 for _ in legal(position))
    return sum(perft(after(position, step), depth - 1) for step in legal(position))
