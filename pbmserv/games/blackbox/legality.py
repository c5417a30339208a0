"""Checks whether a move is legal, by the view of the mover alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.moves import AIDS, TEXT_LIMIT, Element, Kind, move_of, read_elements
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.state import Box, Markers
from pbmserv.games.blackbox.views import FIRED, BoxView, Standing, View

Judged: TypeAlias = View | Standing
"""The facts that decide whether a move is legal: the mover's view, or the same part of the
state."""

_CHARACTERS_A_CELL = 8  # "+AA52" and blanks


def longest_move(options: Options) -> int:
    """Return the most characters that a move may have, which grow with the number of atoms."""
    return max(TEXT_LIMIT, options.most * _CHARACTERS_A_CELL)


def check(view: Judged, text: str) -> tuple[Element, ...]:
    """Return the elements of a legal move.

    A turn is legal while another seat has to move. `Blackbox.apply` checks whose turn it is.

    Raises:
        NotUnderstood: the text is not a Blackbox move.
        Illegal: the move is malformed or not allowed here; the refusal names the element.
    """
    elements = read_elements(view.options.board, text, longest_move(view.options))
    if view.phase == "over":
        raise Illegal("blackbox.finished")
    own = view.own
    if own is None:
        raise Illegal("blackbox.watching")
    if view.phase == "done":
        raise Illegal("blackbox.done", part=move_of(elements).text)
    if not view.has_hidden:
        _check_placement(view, elements)
        return elements
    if cells := [element for element in elements if element.kind is Kind.CELL]:
        raise _unsigned(view, cells, elements)
    probes = [element for element in elements if element.kind is Kind.PROBE]
    if len(probes) > 1:
        raise Illegal("blackbox.two-probes", part=probes[1].part, first=probes[0].part)
    if probes and (mark := own.marks[probes[0].port]):
        part, port = probes[0].part, probes[0].text
        raise Illegal("blackbox.port-used", part=part, port=port, mark=mark, later=mark == FIRED)
    _check_locks(own, elements)
    if guesses := [element for element in elements if element.kind is Kind.GUESS]:
        _check_guesses(view, own, elements, guesses)
    return elements


def _check_locks(own: BoxView | Box, elements: Sequence[Element]) -> None:
    """Refuse a move that removes a locked marker."""
    if not own.locked and all(element.kind is not Kind.LOCK for element in elements):
        return
    aids = Markers(own.markers, own.sealed, own.locked)
    for element in elements:
        if aids.forbids(element):
            raise Illegal("blackbox.locked", part=element.part, area=element.area)
        aids.use(element)


def _check_placement(view: Judged, elements: Sequence[Element]) -> None:
    others = [element for element in elements if element.kind != Kind.CELL]
    if len(others) == len(elements):
        raise Illegal("blackbox.hide-first", part=others[0].part, wanted=view.options.atoms)
    if others:
        raise Illegal("blackbox.placement-element", part=others[0].part)
    seen: dict[str, str] = {}
    for element in elements:
        if element.text in seen:
            raise Illegal(
                "blackbox.repeated-cell",
                part=element.part,
                first=seen[element.text],
                cell=element.text,
            )
        seen[element.text] = element.part
    if off := view.options.missing_atoms(len(elements)):
        code = "blackbox.too-few-atoms" if off > 0 else "blackbox.too-many-atoms"
        part = ",".join(element.part for element in elements)
        raise Illegal(code, part=part, have=len(elements), wanted=view.options.atoms, off=off)


def _unsigned(view: Judged, cells: Sequence[Element], elements: Sequence[Element]) -> Illegal:
    """Return the refusal of cells without a sign."""
    hides_again = not view.options.race and (len(cells) > 1 or view.phase == "hiding")
    if hides_again and len(cells) == len(elements):
        return Illegal("blackbox.already-hidden", part=cells[0].part)
    return Illegal("blackbox.unsigned-cell", part=cells[0].part, cell=cells[0].text)


def _check_guesses(
    view: Judged,
    own: BoxView | Box,
    elements: Sequence[Element],
    guesses: Sequence[Element],
) -> None:
    if len(guesses) > 1:
        raise Illegal("blackbox.two-guesses", part=guesses[1].part)
    part = guesses[0].part
    if own.guesses_left < 1:
        raise Illegal("blackbox.no-guesses", part=part)
    after = Markers(own.markers, own.sealed, own.locked)
    for element in elements:
        after.use(element)
    count = len(after.markers)
    if off := view.options.missing_atoms(count):
        wanted = view.options.atoms
        raise Illegal("blackbox.guess-markers", part=part, have=count, wanted=wanted, off=off)


def meanwhile(view: View, move: Move) -> tuple[Move | None, str]:
    """Return the part of a move that uses no turn, and the text of the other part."""
    elements = check(view, move.text)
    free = [element for element in elements if element.kind in AIDS]
    rest = [element for element in elements if element.kind not in AIDS]
    return (move_of(free) if free else None), move_of(rest).text
