"""What a player can work out from the own view alone.

What programs read of it, what a move would do, what a plan may make a move depend on, and which
results the own markers explain (the "test ray" of the Windows game).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pbmserv.engine.types import Move, Note, Preview, Seat, Value
from pbmserv.errors import Illegal, NotUnderstood
from pbmserv.games.blackbox.geometry import in_ranges
from pbmserv.games.blackbox.legality import check, elements_of
from pbmserv.games.blackbox.moves import Element, Kind, move_of
from pbmserv.games.blackbox.rays import exit_of, kind_of, trace, trace_all, way
from pbmserv.games.blackbox.rules import names, two_results
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Markers
from pbmserv.games.blackbox.views import FIRED, BoxView, View


@dataclass(frozen=True, slots=True)
class BlackboxBox:
    """A box, as its reader may see it. Labels of ports and names of cells are what moves call them.

    Attributes:
        solver: the seat that looks for the atoms in it.
        hider: the seat that hides them; null = the server.
        ports: each port with what its ray did: "" = not fired, "#" = hit, "%" = reflection, else
            the label of the port where it came out. In the order top, right, bottom, left.
        cells: the names of the cells, row by row.
        markers: the cells where its solver thinks atoms are.
        sealed: the cells that the reader has sealed.
        locked: the cells with a marker that the reader has locked.
        circled: the ports that prove the markers wrong, after a wrong guess or at the end.
        atoms: the cells with an atom; null while the reader may not know.
        guesses_left: null = as many as it takes.
        fired: the port that was fired last; null = none.
    """

    solver: int
    hider: int | None
    ports: dict[str, str]
    cells: list[list[str]]
    markers: list[str]
    sealed: list[str]
    locked: list[str]
    circled: list[str]
    atoms: list[str] | None
    guesses_left: int | None
    fired: str | None


@dataclass(frozen=True, slots=True)
class BlackboxBoard:
    """A board of Blackbox.

    Attributes:
        phase: "hiding", "playing", "done" (in a race that others still run) or "over".
        atoms: how many a box holds: "4", or "3-5".
        must_hide: the reader has still to hide atoms for somebody.
        boxes: those the reader may see, the reader's own first.
    """

    phase: str
    atoms: str
    must_hide: bool
    boxes: list[BlackboxBox]


def facts_of(view: View) -> BlackboxBoard:
    """What a reader sees, for programs."""
    boxes = [_box_facts(box) for box in view.shown]
    must_hide = view.seat is not None and view.outcome is None and not view.has_hidden
    return BlackboxBoard(view.phase, view.options.atoms, must_hide, boxes)


def _box_facts(box: BoxView) -> BlackboxBox:
    board = box.board

    def names(cells: Iterable[int]) -> list[str]:
        return [board.names[cell] for cell in sorted(cells)]

    width = board.width
    return BlackboxBox(
        solver=box.seat,
        hider=box.hider,
        ports={label: box.result(port) for port, label in enumerate(board.ports)},
        cells=[list(board.names[at : at + width]) for at in range(0, len(board.names), width)],
        markers=names(box.markers),
        sealed=names(box.sealed),
        locked=names(box.locked),
        circled=[board.ports[port] for port in sorted(box.circled)],
        atoms=None if box.atoms is None else names(box.atoms),
        guesses_left=None if box.endless else box.guesses_left,
        fired=None if box.fired is None else board.ports[box.fired],
    )


DETOUR = "detour"

CONDITIONS = (
    ("#", "your last probe was a hit (or: hit)"),
    ("%", "your last probe was a reflection (or: reflection)"),
    (DETOUR, "your last probe came out at another port"),
    ("9", "your last probe came out at port 9"),
    ("a=#", "port a shows a hit; a=% and a=detour likewise"),
    ("a=9", "the ray into port a came out at port 9"),
)

_WORDS = {
    HIT_MARK: HIT_MARK,
    "HIT": HIT_MARK,
    REFLECTION_MARK: REFLECTION_MARK,
    "REFLECTION": REFLECTION_MARK,
    "DETOUR": DETOUR,
}


def read_condition(view: View, text: str) -> str:
    """Read ``#``, ``detour``, ``9`` (of the last probe) or ``a=#`` (of a port).

    Raises:
        NotUnderstood: it is no condition.
        Illegal: it names a port that this board has not.
    """
    body = "".join(text.split()).upper()
    port, equals, result = body.partition("=")
    if not equals:
        return _result(view, text, body)
    label = _port(view, text, port)
    result = _result(view, text, result)
    return f"{label}={REFLECTION_MARK if result == label else result}"


def holds(view: View, condition: str) -> bool:
    """Whether a canonical condition is true; of a port without a mark nothing is."""
    own = view.own
    if own is None:
        return False
    label, equals, wanted = condition.rpartition("=")
    port = view.options.board.port(label) if equals else own.fired
    if port is None:
        return False
    result = own.result(port)
    if wanted == DETOUR:
        return result not in {"", HIT_MARK, REFLECTION_MARK}
    return result == wanted


def _result(view: View, text: str, word: str) -> str:
    return _WORDS.get(word) or _port(view, text, word)


def _port(view: View, text: str, label: str) -> str:
    board = view.options.board
    plain = str(int(label)) if label.isdecimal() and label.isascii() else label
    if board.port(plain) is not None:
        return plain
    if _is_label(label):
        raise Illegal("blackbox.condition-port", part=text, label=label)
    raise NotUnderstood("blackbox.condition-unknown", part=text, port=board.ports[0].lower())


def _is_label(label: str) -> bool:
    most = 3 if label.isdigit() else 2 if label.isalpha() else 0
    return label.isascii() and 0 < len(label) <= most


def preview(view: View, seat: Seat, text: str) -> Preview[View]:
    """The boards with the markers, seals and atoms that a move by *seat* would set.

    A probe is named, not fired, and a guess is named, not judged. A spectator sees what any
    spectator would see.

    Raises:
        NotUnderstood | Illegal: the move would be refused.
    """
    # Whatever the view does not show stays unknown.
    as_mover = view if view.seat == seat else replace(view, seat=seat)
    elements = elements_of(as_mover, text)
    move = move_of(elements)
    after, told = _foreseen(as_mover, elements)
    notes = [Note(f"would-{kind}", seat, None, {"cells": cells}) for kind, cells in told]
    for element in elements:
        if element.kind == Kind.PROBE:
            port = view.options.board.ports[element.port]
            notes.append(Note("would-fire", seat, None, {"port": port}))
        elif element.kind == Kind.GUESS:
            markers = after.boxes[seat].markers
            cells = names(view.options.board, markers)
            notes.append(Note("would-guess", seat, None, {"cells": cells}))
    if view.seat is None:
        after = replace(after, boxes=tuple(map(_without_atoms, after.boxes, view.boxes)))
    shown = after if view.seat == seat else replace(after, seat=view.seat)
    return Preview(move, shown, tuple(notes))


def expect(view: View, move: Move) -> View:
    """The mover's view at the next turn, if the game goes on: ports fired now are used then."""
    elements = check(view, move.text)
    after, _ = _foreseen(view, elements)
    own = after.own
    if own is None:
        return after
    marks = list(own.marks)
    left = own.guesses_left
    fired = own.fired
    for element in elements:
        if element.kind == Kind.PROBE:
            marks[element.port] = FIRED
            fired = element.port
        elif element.kind == Kind.GUESS:
            left -= 1
    return _with_box(after, replace(own, marks=tuple(marks), guesses_left=left, fired=fired))


def _foreseen(
    view: View, elements: Sequence[Element]
) -> tuple[View, list[tuple[str, tuple[str, ...]]]]:
    board = view.options.board
    hidden, own = view.hides_in, view.own
    if elements[0].kind == Kind.CELL and hidden is not None:
        atoms = frozenset(cell for element in elements for cell in element.cells)
        box = replace(hidden, filled=True, atoms=atoms)
        return _with_box(view, box), [("hide", names(board, atoms))]
    assert own is not None
    aids = Markers(own.markers, own.sealed, own.locked)
    told = aids.use_all(elements, board)
    box = replace(
        own,
        markers=frozenset(aids.markers),
        sealed=frozenset(aids.sealed),
        locked=frozenset(aids.locked),
        circled=frozenset(),
    )
    return _with_box(view, box), told


def _with_box(view: View, box: BoxView) -> View:
    boxes = tuple(box if old.seat == box.seat else old for old in view.boxes)
    return replace(view, boxes=boxes)


def _without_atoms(box: BoxView, before: BoxView) -> BoxView:
    """A box as spectators see it: without the seals, locks and atoms of the previewed move."""
    return replace(box, sealed=before.sealed, locked=before.locked, atoms=before.atoms)


def check_markers(view: View) -> tuple[Note, ...]:
    """Fire every marked port of the reader's box through the reader's own markers.

    Raises:
        Illegal: the reader has no box.
    """
    own, seat = view.own, view.seat
    if own is None or seat is None:
        raise Illegal("blackbox.watching")
    board = own.board
    guessed = trace_all(board, own.markers)
    explained: list[str] = []
    wrong: list[dict[str, Value]] = []
    for port, found in own.results:
        if guessed[port] == found:
            explained.append(
                "-".join(filter(None, (board.ports[port], exit_of(board, port, found))))
            )
        else:
            values = two_results(board, port, found, guessed[port])
            wrong.append({**values, "mark": own.marks[port]})
    readers = frozenset({seat})
    results = len(explained) + len(wrong)
    summary = "some" if explained and wrong else "all" if explained else "none"
    return (
        Note(
            f"check-{summary if results else 'nothing'}",
            seat,
            readers,
            {"ports": tuple(explained), "results": results},
        ),
        *(Note("check-wrong", seat, readers, values) for values in wrong),
        Note(
            "check-count",
            seat,
            readers,
            {"have": len(own.markers), "wanted": view.options.atoms},
        ),
    )


def test_ray(view: View, text: str) -> Preview[View]:
    """The way of a ray into a port through the reader's own markers, drawn on the board.

    Raises:
        Illegal: the reader has no box, or there is no such port.
    """
    own, seat = view.own, view.seat
    if own is None or seat is None:
        raise Illegal("blackbox.watching")
    board = own.board
    port = board.port(text.strip().upper().lstrip("0"))
    if port is None:
        raise Illegal("blackbox.no-such-port", part=text, ports=in_ranges(board, board.ports))
    found = trace(board, own.markers, port)
    note = Note(
        "test-ray",
        seat,
        frozenset({seat}),
        {
            "port": board.ports[port],
            "result": kind_of(port, found),
            "exit": exit_of(board, port, found),
        },
    )
    path = frozenset(way(board, own.markers, port))
    boxes = tuple(replace(box, path=path) if box.seat == seat else box for box in view.boxes)
    return Preview(Move(board.ports[port], free=True), replace(view, boxes=boxes), (note,))
