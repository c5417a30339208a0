"""A box that one person fills by hand for another one at the same device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.types import Seat
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.game_ids import descriptive_id
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.state import new_state
from pbmserv.games.blackbox.views import View, view_of


def laid(options: Options, spots: Sequence[str], tap: str) -> tuple[str, ...]:
    """Return the cells with an atom after a tap on a cell, which puts one there or takes it off.

    A tap on anything else changes nothing.
    """
    name = tap.strip().upper()
    if options.board.named(name) is None:
        return tuple(spots)
    return tuple(spot for spot in spots if spot != name) if name in spots else (*spots, name)


def laid_view(options: Options, spots: Sequence[str]) -> View:
    """Return the open box with these atoms, as the person who fills it sees it."""
    view = view_of(new_state(options, 1, frozenset()), Seat(0))
    atoms = frozenset(cell for spot in spots if (cell := options.board.named(spot)) is not None)
    return replace(view, boxes=(replace(view.boxes[0], atoms=atoms),))


def laid_options(options: Options, spots: Sequence[str]) -> Options:
    """Return the options of a game on the box with these atoms.

    Raises:
        Illegal: the box may not hold so many.
    """
    have, least, most = len(spots), options.least, options.most
    if not least <= have <= most:
        off = max(least - have, 0) or min(most - have, 0)
        raise Illegal("blackbox.hide-count", part="", have=have, wanted=options.atoms, off=off)
    cells = frozenset(cell for spot in spots if (cell := options.board.named(spot)) is not None)
    text = descriptive_id(options.width, options.height, least, most, cells)
    return replace(options, id=text, seed="", grade="")
