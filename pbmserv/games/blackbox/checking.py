"""Which results a player's own markers explain (the "test ray" of the Windows game)."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.engine.types import Move, Note, Preview, Value
from pbmserv.errors import Illegal
from pbmserv.games.blackbox.playing import exit_of, kind_of
from pbmserv.games.blackbox.rays import trace, trace_all, way
from pbmserv.games.blackbox.views import View


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
            wrong.append(
                {
                    "port": board.ports[port],
                    "result": kind_of(port, found),
                    "exit": exit_of(board, port, found),
                    "mark": own.marks[port],
                    "guessed_result": kind_of(port, guessed[port]),
                    "guessed_exit": exit_of(board, port, guessed[port]),
                }
            )
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
        raise Illegal("blackbox.no-such-port", part=text, example=board.ports[0])
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
