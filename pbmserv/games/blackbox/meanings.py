"""Finds the move that a refused text means, or draws the one that it leaves to chance.

A text means a move only if exactly one of its `readings` is legal. `examples` guesses at others,
for a refusal to offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from pbmserv.engine.left_to_chance import leaves_it_to_chance
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move
from pbmserv.errors import MoveError
from pbmserv.games.blackbox.legality import check, longest_move
from pbmserv.games.blackbox.moves import TEXT_LIMIT, Kind, move_of, read_elements
from pbmserv.games.blackbox.options import draw_cells
from pbmserv.games.blackbox.readings import ways_to_read
from pbmserv.games.blackbox.views import View


def meant(view: View, text: str) -> Move | None:
    """Return the only legal reading of a refused text, `None` if there is none or several."""
    if view.own is None or view.phase in {"over", "done"} or len(text) > TEXT_LIMIT:
        return None
    for readings in ways_to_read(view, text):
        legal_moves = _legal_moves(view, readings)
        if legal_moves:
            return next(iter(legal_moves.values())) if len(legal_moves) == 1 else None
    return None


def _legal_moves(view: View, meanings: Iterable[str]) -> dict[str, Move]:
    """Return the legal ones of these moves by their canonical texts."""
    legal_moves: dict[str, Move] = {}
    for signs in meanings:
        try:
            move = move_of(check(view, signs))
        except MoveError:
            continue
        legal_moves[move.text] = move
    return legal_moves


def placement(view: View, rng: Rng) -> str:
    """Return cells for atoms, each number and choice of cells equally likely.

    The text is empty if the player has no atoms to hide now.
    """
    if view.has_hidden or not view.may_act:
        return ""
    cells = draw_cells(view.options, rng)
    return ",".join(sorted(map(view.options.board.name, cells)))


def by_chance(view: View, sentence: str, rng: Rng) -> Move | None:
    """Return a placement drawn at random if a reader who has to hide atoms asks for one."""
    text = placement(view, rng) if leaves_it_to_chance(sentence) else ""
    return Move(text) if text else None


_ON_CELLS = frozenset({Kind.CELL, Kind.MARK, Kind.UNMARK, Kind.SEAL})
_LABEL = re.compile("[A-Z]+|[0-9]+")


def far_cells(view: View, text: str) -> tuple[tuple[str, str], ...]:
    """Return the elements that name cells by a label below or right of the board.

    Each element is returned as typed and in canonical text: ``+H3`` and ``+A3`` on a 7x7 board,
    where H is the label below column A. The move need not be legal.
    """
    board = view.options.board
    near = {*board.top, *board.left}
    # A long text is no sentence of a person, and only read as it is. Most texts are moves, so other
    # ways are tried only if the text is none.
    ways = ways_to_read(view, text) if len(text) <= TEXT_LIMIT else ()
    for signs in chain([text], chain.from_iterable(ways)):
        try:
            elements = read_elements(board, signs, longest_move(view.options))
        except MoveError:
            continue
        return tuple(
            ("".join(element.part.split()).upper(), element.text)
            for element in elements
            if element.kind in _ON_CELLS
            and any(label.lstrip("0") not in near for label in _LABEL.findall(element.part.upper()))
        )
    return ()
