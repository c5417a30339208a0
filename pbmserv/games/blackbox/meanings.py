"""Finds the move that a refused text means, or draws the one that it leaves to chance.

`readings` reads any move, but every word must be one of its few English ones. `spoken` reads one
port, or cells to mark, in a sentence with unknown words, in a dozen languages. A text means a move
only if exactly one of these is legal; `examples` guesses at others, for a refusal to offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pbmserv.engine.left_to_chance import leaves_it_to_chance
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move
from pbmserv.errors import MoveError
from pbmserv.games.blackbox.legality import check, longest_move
from pbmserv.games.blackbox.moves import TEXT_LIMIT, Kind, move_of, read_elements
from pbmserv.games.blackbox.options import draw_cells
from pbmserv.games.blackbox.readings import readings
from pbmserv.games.blackbox.spoken import spoken
from pbmserv.games.blackbox.views import View


def meant(view: View, text: str) -> Move | None:
    """Return the only legal reading of a refused text, `None` if there is none or several."""
    if view.own is None or view.phase in {"over", "done"} or len(text) > TEXT_LIMIT:
        return None
    refused = "".join(text.split()).upper()
    meanings = [signs for signs in readings(view, text) if signs.upper() != refused]
    legal_moves = _legal_moves(view, meanings) or _legal_moves(view, [spoken(view, text)])
    return next(iter(legal_moves.values())) if len(legal_moves) == 1 else None


def _legal_moves(view: View, meanings: Iterable[str]) -> dict[str, Move]:
    """Return the legal ones of these moves by their canonical texts."""
    legal_moves: dict[str, Move] = {}
    for signs in filter(None, meanings):
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
    for signs in filter(None, _as_meant(view, text)):
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


def _as_meant(view: View, text: str) -> Iterator[str]:
    """Yield a text as it is, then, if it is short, as a person may have meant it."""
    yield text
    if len(text) <= TEXT_LIMIT:
        yield from readings(view, text)
        yield spoken(view, text)
