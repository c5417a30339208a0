"""Facts that follow from a player's view alone.

These are the board for programs, the preview of a move, the conditions of plans, and the results
that the player's markers explain (the "test ray" of the Windows game).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pbmserv.engine.types import Move, Note, Preview, Seat, Value
from pbmserv.errors import Illegal, NotUnderstood
from pbmserv.games.blackbox.geometry import in_ranges
from pbmserv.games.blackbox.legality import check, elements_of
from pbmserv.games.blackbox.moves import Element, Kind, move_of
from pbmserv.games.blackbox.rays import cells_passed, exit_of, kind_of, trace, trace_all
from pbmserv.games.blackbox.rules import names, two_results
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Markers
from pbmserv.games.blackbox.views import FIRED, BoxView, View


@dataclass(frozen=True, slots=True)
class BlackboxBox:
    """A box as its reader sees it. Ports and cells have the same names as in moves.

    Attributes:
        solver: the seat that searches for its atoms.
        hider: the seat that hides them; null for the server.
        ports: the result of each port: "" for none, "#" for a hit, "%" for a reflection, else the
            label of the other end of the detour. In the order top, right, bottom, left.
        cells: the names of the cells, row by row.
        markers: the cells with a marker of the solver.
        sealed: the cells that the reader has sealed.
        locked: the cells with a marker that the reader has locked.
        circled: the ports that contradict the markers, after a wrong guess or at the end.
        atoms: the cells with an atom; null while they are hidden from the reader.
        guesses_left: the number of guesses; null for no limit.
        fired: the port that was fired last; null for none.
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
        phase: "hiding", "playing", "done" (in a race that others have not finished) or "over".
        atoms: the number of atoms of a box: "4", or "3-5".
        must_hide: whether the reader must hide atoms for an opponent.
        boxes: the boxes that the reader sees, the own one first.
    """

    phase: str
    atoms: str
    must_hide: bool
    boxes: list[BlackboxBox]


def facts_of(view: View) -> BlackboxBoard:
    """Return the board as a reader sees it, for programs."""
    boxes = [_box_facts(box) for box in view.shown]
    must_hide = view.seat is not None and view.outcome is None and not view.has_hidden
    return BlackboxBoard(view.phase, view.options.atoms, must_hide, boxes)


def _box_facts(box: BoxView) -> BlackboxBox:
    board = box.board

    def names_of(cells: Iterable[int]) -> list[str]:
        return [board.names[cell] for cell in sorted(cells)]

    width = board.width
    return BlackboxBox(
        solver=box.seat,
        hider=box.hider,
        ports={label: box.result(port) for port, label in enumerate(board.ports)},
        cells=[list(board.names[at : at + width]) for at in range(0, len(board.names), width)],
        markers=names_of(box.markers),
        sealed=names_of(box.sealed),
        locked=names_of(box.locked),
        circled=[board.ports[port] for port in sorted(box.circled)],
        atoms=None if box.atoms is None else names_of(box.atoms),
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
    """Read a condition: ``#``, ``detour``, ``9`` (of the last probe) or ``a=#`` (of a port).

    Raises:
        NotUnderstood: the text is not a condition.
        Illegal: it names a port that the board does not have.
    """
    body = "".join(text.split()).upper()
    port, equals, result = body.partition("=")
    if not equals:
        return _result(view, text, body)
    label = _port(view, text, port)
    result = _result(view, text, result)
    return f"{label}={REFLECTION_MARK if result == label else result}"


def holds(view: View, condition: str) -> bool:
    """Return whether a canonical condition is true. It is false for a port without a mark."""
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
    """Return the board with the markers, seals and atoms that a move by *seat* would set.

    Probes are not fired and guesses are not judged. A spectator sees the board as any spectator
    would.

    Raises:
        NotUnderstood | Illegal: the move would be refused.
    """
    # Facts that the view does not show stay unknown.
    as_mover = view if view.seat == seat else replace(view, seat=seat)
    elements = elements_of(as_mover, text)
    move = move_of(elements)
    after, changes = _with_elements(as_mover, elements)
    notes = [Note(f"would-{kind}", seat, None, {"cells": cells}) for kind, cells in changes]
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
    """Return the mover's view at the next turn, in which ports of this move are used."""
    elements = check(view, move.text)
    after, _ = _with_elements(view, elements)
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


def _with_elements(
    view: View, elements: Sequence[Element]
) -> tuple[View, list[tuple[str, tuple[str, ...]]]]:
    """Return the view after a placement or after markers, seals and locks, and the changes."""
    board = view.options.board
    hidden, own = view.hides_in, view.own
    if elements[0].kind == Kind.CELL and hidden is not None:
        atoms = frozenset(cell for element in elements for cell in element.cells)
        box = replace(hidden, filled=True, atoms=atoms)
        return _with_box(view, box), [("hide", names(board, atoms))]
    assert own is not None
    aids = Markers(own.markers, own.sealed, own.locked)
    changes = aids.use_all(elements, board)
    box = replace(
        own,
        markers=frozenset(aids.markers),
        sealed=frozenset(aids.sealed),
        locked=frozenset(aids.locked),
        circled=frozenset(),
    )
    return _with_box(view, box), changes


def _with_box(view: View, box: BoxView) -> View:
    boxes = tuple(box if old.seat == box.seat else old for old in view.boxes)
    return replace(view, boxes=boxes)


def _without_atoms(box: BoxView, before: BoxView) -> BoxView:
    """Return a box as spectators see it, without seals, locks and atoms of the previewed move."""
    return replace(box, sealed=before.sealed, locked=before.locked, atoms=before.atoms)


def check_markers(view: View) -> tuple[Note, ...]:
    """Compare the marks of the reader's box with the rays among the reader's markers.

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
    for port, result in own.results:
        if guessed[port] == result:
            explained.append(
                "-".join(filter(None, (board.ports[port], exit_of(board, port, result))))
            )
        else:
            values = two_results(board, port, result, guessed[port])
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
    """Return the board with the way of a ray among the reader's markers.

    Raises:
        Illegal: the reader has no box, or the board does not have the port.
    """
    own, seat = view.own, view.seat
    if own is None or seat is None:
        raise Illegal("blackbox.watching")
    board = own.board
    port = board.port(text.strip().upper().lstrip("0"))
    if port is None:
        raise Illegal("blackbox.no-such-port", part=text, ports=in_ranges(board, board.ports))
    result = trace(board, own.markers, port)
    note = Note(
        "test-ray",
        seat,
        frozenset({seat}),
        {
            "port": board.ports[port],
            "result": kind_of(port, result),
            "exit": exit_of(board, port, result),
        },
    )
    path = frozenset(cells_passed(board, own.markers, port))
    boxes = tuple(replace(box, path=path) if box.seat == seat else box for box in view.boxes)
    return Preview(Move(board.ports[port], free=True), replace(view, boxes=boxes), (note,))
