"""``pbmserv blackbox show``: a box as the letters draw it."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.output import say
from pbmserv.games.blackbox.cli.ending import politely
from pbmserv.games.blackbox.cli.evidence import Markers, Marks, Which, grid, marks_seen, subject


def show(
    which: Which,
    marks: Marks = "",
    markers: Markers = "",
    seals: Annotated[
        str, typer.Option("--seals", metavar="CELLS", help='Cells that are surely empty: "C3".')
    ] = "",
    solution: Annotated[
        bool, typer.Option("--solution", help="Open it: atoms, right and wrong markers.")
    ] = False,
) -> None:
    """Draw a box: what the fired ports show, the markers and, on request, the atoms.

    Example: pbmserv blackbox show w7h7m4M4#271828182845904 --marks "A 5 11" --markers D4 --solution
    """
    with politely("show"):
        about = subject(which)
        view = about.view(marks_seen(about, marks), markers, seals, solution)
        say(about.title)
        say("")
        say(grid(list(view.boxes)))
