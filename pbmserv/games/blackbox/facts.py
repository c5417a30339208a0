"""A board as facts for programs, which the API returns as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.games.blackbox.views import BoxView, View


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
    width = board.width
    return BlackboxBox(
        solver=box.seat,
        hider=box.hider,
        ports={label: box.result(port) for port, label in enumerate(board.ports)},
        cells=[list(board.names[at : at + width]) for at in range(0, len(board.names), width)],
        markers=list(board.names_of(box.markers)),
        sealed=list(board.names_of(box.sealed)),
        locked=list(board.names_of(box.locked)),
        circled=[board.ports[port] for port in sorted(box.circled)],
        atoms=None if box.atoms is None else list(board.names_of(box.atoms)),
        guesses_left=None if box.endless else box.guesses_left,
        fired=None if box.fired is None else board.ports[box.fired],
    )
