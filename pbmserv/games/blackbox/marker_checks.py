"""Compares the markers of a player with the rays that were fired.

The "test ray" of the Windows game draws the way of a ray among the markers.
"""

from __future__ import annotations

from dataclasses import replace

from pbmserv.engine.types import Move, Note, Preview, Value
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.contradictions import two_results
from pbmserv.games.blackbox.geometry import in_ranges
from pbmserv.games.blackbox.rays import cells_passed, exit_of, kind_of, trace, trace_all
from pbmserv.games.blackbox.views import View


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


def ray_through_markers(view: View, text: str) -> Preview[View]:
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
    drawn = view.with_box(replace(own, path=path))
    return Preview(Move(board.ports[port], free=True), drawn, (note,))
