"""Hints that the reader of a view could work out, in this order:

1. Markers that contradict a mark, or several marks together.
2. A marker or seal that is surely wrong, or a certain atom without a marker.
3. The best port and the reason, or the advice to guess if all certain atoms are marked.
4. The fact that no port distinguishes the layouts that are left.

Hints are true for every layout that fits the view. Numbers are exact if all these layouts can be
examined. Otherwise they come from a sample, and the hint says so. The work is limited without a
clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pbmserv.games.blackbox.bots.candidates import CROWD, LARGE, results_as_fired
from pbmserv.games.blackbox.bots.knowledge import Effort, Knowledge, beginning, examines_all
from pbmserv.games.blackbox.bots.layout_sets import listed_layouts
from pbmserv.games.blackbox.bots.search import ATOM, EMPTY, is_possible
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, kind_of
from pbmserv.games.blackbox.views import BoxView, View

RAYS = 20_000
"""Rays of one search for a fitting layout, about a twentieth of a second."""

ALL_RAYS = 8 * RAYS
"""Rays of all searches for a hint, a third of a second: other players' hints wait meanwhile.

On boards that are larger than `LARGE`, where rays are longer, a hint has fewer.
"""

SHOWN = 6
"""The most indistinguishable layouts that a hint names."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint.

    Attributes:
        kind: ``contradicted``, ``cell``, ``port``, ``apart`` or ``ready``.
        ports: for a contradiction or a cell, the ports whose marks show it; for ``port``, that one.
        cells: the certain cell, or the cells in which indistinguishable layouts differ.
        atom: whether the certain cell has an atom.
        had: ``marker`` or ``seal`` if the reader put one on the certain cell, else ``""``.
        seals: the contradiction involves seals of the reader.
        have: the number of markers if there are too many, else 0.
        most: the greatest number of atoms in that case.
        left: the number of fitting layouts, `None` if unknown.
        bits: the expected information of the port.
        shares: percentages of ``hit``, ``reflection`` and ``detour`` among the fitting layouts.
        exits: the number of other ports where the ray may exit.
        after: the expected number of fitting layouts afterwards, `None` if unknown.
        sampled: the numbers come from a sample.
        blind: no fitting layout was found, so the numbers are those of an untouched box.
        layouts: the names of the cells of each layout, if these are few.
        fair: each of these layouts counts as right.
    """

    kind: str
    ports: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    atom: bool = False
    had: str = ""
    seals: bool = False
    have: int = 0
    most: int = 0
    left: int | None = None
    bits: float = 0.0
    shares: Mapping[str, int] | None = None
    exits: int = 0
    after: int | None = None
    sampled: bool = False
    blind: bool = False
    layouts: tuple[tuple[str, ...], ...] = ()
    fair: bool = False


def hint(view: View) -> dict[str, Any]:
    """Return the hint of `make_hint` as a dictionary; see `protocol.Reporting`."""
    return asdict(make_hint(view))


def make_hint(view: View) -> Hint:
    """Return the hint for the reader of a view, who has a box to solve."""
    own = view.own
    assert own is not None
    searches = _Searches.on(view.options)
    return _contradiction(view, own, searches) or _hint_from_results(view, own, searches)


@dataclass(slots=True)
class _Searches:
    """The searches for fitting layouts for one hint.

    Attributes:
        left: the rays that all of them may still fire.
    """

    options: Options
    left: int

    @classmethod
    def on(cls, options: Options) -> _Searches:
        """Return the searches for a hint on a board with these options."""
        cells = len(options.board.cells)
        return cls(options, ALL_RAYS * LARGE // max(LARGE, cells))

    def are_possible(
        self, results: Sequence[tuple[int, int]], fixed: Mapping[int, int]
    ) -> bool | None:
        """Return whether a layout explains results and assumptions; `None` if unknown.

        Args:
            fixed: `EMPTY` or `ATOM` for each cell of the assumptions.
        """
        if self.left <= 0:
            return None
        options = self.options
        limits = options.least, options.most, min(RAYS, self.left)
        possible, rays = is_possible(options.board, results, *limits, fixed)
        self.left -= rays
        return possible


# -- from the markers ----------------------------------------------------------------------


def _contradiction(view: View, own: BoxView, searches: _Searches) -> Hint | None:
    """Return marks that contradict the reader's markers, or markers and seals."""
    most = view.options.most
    if len(own.markers) > most:
        return Hint("contradicted", have=len(own.markers), most=most)
    marked = dict.fromkeys(own.markers, ATOM)
    for fixed, seals in ((marked, False), (marked | dict.fromkeys(own.sealed, EMPTY), True)):
        if fixed and (not seals or own.sealed):
            ports = _contradicting_ports(own, fixed, searches)
            if ports is not None:
                return Hint("contradicted", ports, seals=seals)
    return None


def _contradicting_ports(
    own: BoxView, fixed: Mapping[int, int], searches: _Searches
) -> tuple[str, ...] | None:
    """Return a few ports whose marks contradict assumptions about cells.

    Return `None` if the assumptions are possible, or the search is not complete.

    Args:
        own: the reader's box.
        fixed: `EMPTY` or `ATOM` for each cell of the assumptions.
    """
    all_results, ports = list(own.results), own.board.ports
    if searches.are_possible(all_results, fixed) is not False:
        return None
    for result in all_results:
        if searches.are_possible([result], fixed) is False:
            return (ports[result[0]],)
    needed = all_results
    for result in all_results[::-1]:  # the first results give most information
        without = [other for other in needed if other != result]
        if searches.are_possible(without, fixed) is False:
            needed = without
    return tuple(ports[port] for port, _ in needed)


# -- from the results ---------------------------------------------------------------------


def _hint_from_results(view: View, own: BoxView, searches: _Searches) -> Hint:
    """Return a hint if no mark contradicts the markers."""
    effort = Effort()
    knowledge = _knowledge(view, own, effort)
    cell_hint = _cell(view, own, knowledge, searches)
    if cell_hint is not None:
        return cell_hint
    bits = knowledge.ports(effort)
    if knowledge.is_decided(bits) or not knowledge.unused:
        return _decided(view, own, knowledge)
    return _port(view, knowledge, bits)


def _knowledge(view: View, own: BoxView, effort: Effort) -> Knowledge:
    """Return the knowledge of the reader after all results and wrong guesses."""
    if not examines_all(view.options) and (own.results or own.guessed):
        unused = frozenset(port for port, mark in enumerate(own.marks) if not mark)
        nothing = listed_layouts(view.options.board, (), None)
        known = Knowledge(
            view.options, nothing, 0, False, None, results_as_fired(own), unused, own.guessed
        )
        return known.searched(effort, CROWD, CROWD)
    knowledge = beginning(view.options)
    for port, out in own.results:
        knowledge = knowledge.after_ray(port, out, effort)
    for markers in own.guessed:
        knowledge = knowledge.after_guess(markers)
    return knowledge


def _cell(view: View, own: BoxView, knowledge: Knowledge, searches: _Searches) -> Hint | None:
    """Return a hint about a wrong marker or seal, or a certain atom without a marker."""
    fitting = knowledge.fitting
    if not fitting:
        return None
    board = view.options.board
    holding = {cell: knowledge.layouts.holding(cell, fitting) for cell in board.cells}
    atoms = [cell for cell in board.cells if holding[cell] == fitting]
    hints = [(cell, False, "marker") for cell in sorted(own.markers) if not holding[cell]]
    hints += [(cell, True, "seal") for cell in atoms if cell in own.sealed]
    hints += [(cell, True, "") for cell in atoms if cell not in own.markers | own.sealed]
    best: Hint | None = None
    for cell, atom, had in hints:
        ports = _contradicting_ports(own, {cell: EMPTY if atom else ATOM}, searches)
        if ports is None and knowledge.complete:
            ports = ()  # wrong guesses are part of the reason, or the search was not complete
        if ports is None or (best is not None and (best.had or len(best.ports) <= len(ports))):
            continue
        best = Hint("cell", ports, (board.name(cell),), atom, had)
        if had:
            break
    return best


def _decided(view: View, own: BoxView, knowledge: Knowledge) -> Hint:
    """Return a hint if no further ray gives information."""
    board = view.options.board
    if not knowledge.complete:
        return Hint("apart", fair=view.options.fair)
    listed = list(knowledge.layouts.listed(knowledge.fitting))
    fair = view.options.fair
    markers = own.markers
    if listed == [markers] or (fair and markers in listed):
        return Hint("ready", left=len(listed), fair=fair)
    differ = frozenset().union(*listed) - frozenset.intersection(*listed) if listed else ()
    layouts = _cell_names(view, listed) if len(listed) <= SHOWN else ()
    cells = tuple(map(board.name, sorted(differ)))
    return Hint("apart", cells=cells, left=len(listed), layouts=layouts, fair=fair)


def _cell_names(view: View, layouts: Iterable[frozenset[int]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(view.options.board.name, sorted(layout))) for layout in layouts)


def _port(view: View, knowledge: Knowledge, bits: Mapping[int, float]) -> Hint:
    """Return a hint about the best port.

    If no fitting layout is known, it is the best port of an untouched box.
    """
    board = view.options.board
    basis, blind = knowledge, not bits
    if blind:
        basis = beginning(view.options)
        first_bits = basis.ports(Effort())
        bits = {port: first_bits.get(port, 0.0) for port in knowledge.unused}
    best_port = min(bits, key=lambda port: (-round(bits[port], 9), port))
    parts = basis.layouts.divided(best_port, basis.fitting)
    whole = basis.layouts.weight(basis.fitting)
    shares = dict.fromkeys(("hit", "reflection", "detour"), 0.0)
    left = 0.0
    for out, part in parts.items():
        share = basis.layouts.weight(part) / whole
        shares[kind_of(best_port, out)] += 100 * share
        left += share * part.bit_count()
    return Hint(
        "port",
        (board.ports[best_port],),
        left=knowledge.total if knowledge.complete else None,
        bits=bits[best_port],
        shares={kind: round(share) for kind, share in shares.items()},
        exits=sum(out not in (HIT, best_port) for out in parts),
        after=max(1, round(left)) if knowledge.complete else None,
        sampled=not knowledge.complete,
        blind=blind,
    )
