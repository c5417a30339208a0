"""The moves so far at a board, as its page lists them for a reader."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.types import SCORE, Seat
from pbmserv.views.texts import note_sentences

MOST_MOVES = 200
"""Most moves on a page, the newest ones."""


@dataclass(frozen=True, slots=True)
class ListedMove:
    """A move in a list, in a sentence for each of its effects.

    Attributes:
        step: number of plies that the reader knows of, this one included.
        seat: the seat that moved.
    """

    step: int
    seat: Seat
    sentences: tuple[str, ...]


def known_to(newest: Position, seat: Seat) -> list[Position]:
    """Return the start of a board and the positions after each ply that a seat knows of.

    Plies that were taken back are left out, and those before a restart. Plies of others from which
    the seat learns nothing are left out, too: their number is private.
    """
    return [newest.at(0), *(step for step in newest.after(0) if step.is_news_for(seat))]


def moves_so_far(
    positions: list[Position], names: tuple[str, ...], seat: Seat
) -> tuple[ListedMove, ...]:
    """Return the newest moves of *positions*, which `known_to` has returned, newest first."""
    moves = []
    for step in range(len(positions) - 1, 0, -1):
        position = positions[step]
        notes = notes_for(position.game, position.step, seat)
        shown_notes = [note for note in notes if note.kind != SCORE]
        sentences = note_sentences(position.game, shown_notes, names, seat)
        if sentences and position.ply is not None:
            moves.append(ListedMove(step, position.ply.seat, tuple(sentences)))
        if len(moves) == MOST_MOVES:
            break
    return tuple(moves)
