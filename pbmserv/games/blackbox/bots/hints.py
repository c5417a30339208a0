"""Hints: what the reader of a view could work out, the gentlest thing first.

1. Markers that contradict a mark, or several marks together.
2. A marker or a seal that is surely wrong; an atom that is surely there and has no marker.
3. The port that tells most, and why; or, if all that can be known is marked, that it is time to
   guess.
4. That no port tells the layouts apart which are left.

All of it is true of every layout that fits what the reader has seen. Numbers are exact where all
of these can be looked at, else they are from a sample, and said to be. The work has an end, which
no clock decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pbmserv.engine.types import Rng
from pbmserv.games.blackbox.bots.candidates import candidates
from pbmserv.games.blackbox.bots.knowledge import Effort, Known, beginning
from pbmserv.games.blackbox.bots.layout_sets import listed_layouts
from pbmserv.games.blackbox.bots.search import ATOM, EMPTY, possible
from pbmserv.games.blackbox.rays import HIT, kind_of
from pbmserv.games.blackbox.views import BoxView, View

RAYS = 20_000
"""Rays of one search for a layout that fits; about a fifteenth of a second."""

SHOWN = 6
"""So many layouts that no port tells apart are named."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a player is told.

    Attributes:
        kind: ``contradicted``, ``cell``, ``port``, ``apart`` or ``ready``.
        ports: of a contradiction or a cell: whose marks show it; of ``port`` that one.
        cells: the cell that is certain; where layouts differ that cannot be told apart.
        atom: whether there is an atom at that cell.
        had: what the reader has put there: ``marker``, ``seal`` or "".
        seals: the contradiction needs the reader's seals, too.
        have, most: markers, and how many atoms there can be, if there are too many markers.
        left: layouts that fit; ``None`` = not known.
        bits: that the port tells on average.
        shares: of a hundred layouts that fit, how many give each ``hit``, ``reflection``,
            ``detour``.
        exits: at how many other ports the ray may come out.
        after: how many layouts fit after it, on average; ``None`` = not known.
        sampled: the numbers are from a sample.
        blind: no layout was found that fits, so they are those of a box of which nothing is known.
        layouts: names of the cells of each layout, if these are few.
        fair: any of them counts as right.
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
    """As `protocol.Hinting` has it: the words of `worked_out`."""
    return asdict(worked_out(view))


def worked_out(view: View) -> Hint:
    """The hint for the reader of a view, who has a box to solve."""
    own = view.own
    assert own is not None
    return _contradiction(view, own) or _further(view, own)


# -- what the markers say ------------------------------------------------------------------


def _contradiction(view: View, own: BoxView) -> Hint | None:
    """The marks that the reader's markers cannot be right with; seals count if they must."""
    most = view.options.most
    if len(own.markers) > most:
        return Hint("contradicted", have=len(own.markers), most=most)
    marked = dict.fromkeys(own.markers, ATOM)
    for fixed, seals in ((marked, False), (marked | dict.fromkeys(own.sealed, EMPTY), True)):
        if fixed and (not seals or own.sealed):
            ports = _shown_by(view, own, fixed)
            if ports is not None:
                return Hint("contradicted", ports, seals=seals)
    return None


def _shown_by(view: View, own: BoxView, fixed: Mapping[int, int]) -> tuple[str, ...] | None:
    """Few ports whose marks show that the cells cannot all be what they are *fixed* to be;
    ``None``: they can, as far as is known."""
    options = view.options
    results = list(own.results)

    def may_be(some: Sequence[tuple[int, int]]) -> bool | None:
        return possible(options.board, some, options.least, options.most, RAYS, fixed)

    if may_be(results) is not False:
        return None
    for one in results:
        if may_be([one]) is False:
            return (options.board.ports[one[0]],)
    needed = results
    for one in results[::-1]:  # what was found out early says most
        without = [other for other in needed if other != one]
        if may_be(without) is False:
            needed = without
    return tuple(options.board.ports[port] for port, _ in needed)


# -- what the results say ------------------------------------------------------------------


def _further(view: View, own: BoxView) -> Hint:
    """What can be said if nothing is wrong with the markers, as far as can be seen."""
    effort = Effort()
    known = _known(view, own, effort)
    found = _cell(view, own, known)
    if found is not None:
        return found
    bits = known.ports(effort)
    if known.is_decided(bits) or not known.unused:
        return _decided(view, own, known)
    return _port(view, known, bits)


def _known(view: View, own: BoxView, effort: Effort) -> Known:
    """What the results and the wrong guesses leave of all layouts."""
    known = beginning(view.options)
    if known.complete:
        for port, out in own.results:
            known = known.fired(port, out, effort)
        for markers in own.guessed:
            known = known.guessed(markers)
        return known
    if not own.results and not own.guessed:
        return known
    found = candidates(view, Rng(b"a hint", len(own.results)))
    weights = dict(zip(map(len, found.layouts), found.weights, strict=True))
    layouts = listed_layouts(view.options.board, found.layouts, weights)
    return Known(
        view.options,
        layouts,
        layouts.everything,
        found.complete,
        len(found.layouts) if found.complete else None,
        own.results,
        frozenset(port for port, mark in enumerate(own.marks) if not mark),
        own.guessed,
    )


def _cell(view: View, own: BoxView, known: Known) -> Hint | None:
    """A cell that the reader is wrong about, or an atom that the reader has not marked."""
    if not known.some:
        return None
    board = view.options.board
    held = {cell: known.layouts.holding(cell, known.some) for cell in board.cells}
    atoms = [cell for cell in board.cells if held[cell] == known.some]
    wrong = [(cell, False, "marker") for cell in sorted(own.markers) if not held[cell]]
    wrong += [(cell, True, "seal") for cell in atoms if cell in own.sealed]
    wrong += [(cell, True, "") for cell in atoms if cell not in own.markers | own.sealed]
    best: Hint | None = None
    for cell, atom, had in wrong:
        ports = _shown_by(view, own, {cell: EMPTY if atom else ATOM})
        if ports is None and known.complete:
            ports = ()  # wrong guesses show it, too, or the search was too short to say why
        if ports is None or (best is not None and (best.had or len(best.ports) <= len(ports))):
            continue
        best = Hint("cell", ports, (board.name(cell),), atom, had)
        if had:
            break
    return best


def _decided(view: View, own: BoxView, known: Known) -> Hint:
    """No further ray tells anything: the markers are right, or nobody can know whether."""
    board = view.options.board
    if not known.complete:
        return Hint("apart", fair=view.options.fair)
    listed = list(known.layouts.listed(known.some))
    fair = view.options.fair
    markers = own.markers
    if listed == [markers] or (fair and markers in listed):
        return Hint("ready", left=len(listed), fair=fair)
    differ = frozenset().union(*listed) - frozenset.intersection(*listed) if listed else ()
    layouts = _named(view, listed) if len(listed) <= SHOWN else ()
    cells = tuple(map(board.name, sorted(differ)))
    return Hint("apart", cells=cells, left=len(listed), layouts=layouts, fair=fair)


def _named(view: View, layouts: Iterable[frozenset[int]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(view.options.board.name, sorted(one))) for one in layouts)


def _port(view: View, known: Known, bits: Mapping[int, float]) -> Hint:
    """The port that tells most; where nothing is known of the layouts that fit, the one that tells
    most in a box of which nothing is known."""
    board = view.options.board
    some, blind = known, not bits
    if blind:
        some = beginning(view.options)
        every = some.ports(Effort())
        bits = {port: every.get(port, 0.0) for port in known.unused}
    port = min(bits, key=lambda one: (-round(bits[one], 9), one))
    parts = some.layouts.divided(port, some.some)
    whole = some.layouts.weight(some.some)
    shares = dict.fromkeys(("hit", "reflection", "detour"), 0.0)
    left = 0.0
    for out, part in parts.items():
        share = some.layouts.weight(part) / whole
        shares[kind_of(port, out)] += 100 * share
        left += share * part.bit_count()
    return Hint(
        "port",
        (board.ports[port],),
        left=known.total,
        bits=bits[port],
        shares={kind: round(share) for kind, share in shares.items()},
        exits=sum(out not in (HIT, port) for out in parts),
        after=max(1, round(left)) if known.complete else None,
        sampled=not known.complete,
        blind=blind,
    )
