"""A box that one person fills by hand for another at the same device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.types import Seat
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.game_ids import descriptive_id
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.state import new_state
from pbmserv.games.blackbox.views import View, view_of


def spots_after_tap(options: Options, spots: Sequence[str], tap: str) -> tuple[str, ...]:
    """Return the cells with an atom after a tap on a cell, which adds or removes an atom.

    Other taps change nothing.
    """
    name = tap.strip().upper()
    if options.board.named(name) is None:
        return tuple(spots)
    return tuple(spot for spot in spots if spot != name) if name in spots else (*spots, name)


def manual_view(options: Options, spots: Sequence[str]) -> View:
    """Return the open box with these atoms, as seen by the person filling it."""
    view = view_of(new_state(options, 1, frozenset()), Seat(0))
    return replace(view, boxes=(replace(view.boxes[0], atoms=_atoms(options, spots)),))


def manual_options(options: Options, spots: Sequence[str]) -> Options:
    """Return the options of a game on the box with these atoms.

    Raises:
        Illegal: the number of atoms is not allowed.
    """
    if off := options.missing_atoms(len(spots)):
        have, wanted = len(spots), options.atoms
        raise Illegal("blackbox.hide-count", part="", have=have, wanted=wanted, off=off)
    game_id = descriptive_id(options.kind, _atoms(options, spots))
    return replace(options, id=game_id, seed="", grade="")


def _atoms(options: Options, spots: Sequence[str]) -> frozenset[int]:
    """Return the cells with these names. Other names are ignored."""
    return frozenset(cell for spot in spots if (cell := options.board.named(spot)) is not None)
