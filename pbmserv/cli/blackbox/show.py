"""``pbmserv blackbox show`` and ``check``: a box on the screen, and a check of its markers."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.blackbox.arguments import Which
from pbmserv.cli.blackbox.box_to_show import Markers, Marks, box_to_show, grid, marks_of
from pbmserv.cli.blackbox.refusals import politely
from pbmserv.cli.output import say


def show(
    which: Which,
    marks: Marks = "",
    markers: Markers = "",
    seals: Annotated[
        str, typer.Option("--seals", metavar="CELLS", help='Cells that are surely empty: "C3".')
    ] = "",
    solution: Annotated[
        bool, typer.Option("--solution", help="Show the atoms, and which markers are right.")
    ] = False,
) -> None:
    """Draw a box with its marks and markers, and with --solution its atoms.

    Example: pbmserv blackbox show w7h7m4M4#271828182845904 --marks "A 5 11" --markers D4 --solution
    """
    with politely("show"):
        shown = box_to_show(which)
        view = shown.view(marks_of(shown, marks), markers, seals, opened=solution)
        say(shown.title)
        say("")
        say(grid(list(view.boxes)))


def check(
    which: Which,
    marks: Marks = "",
    markers: Markers = "",
    way: Annotated[
        str, typer.Option("--way", metavar="PORT", help="Draw a ray's way through the markers.")
    ] = "",
) -> None:
    """Say which marks the markers explain, by firing each marked port through them.

    If you play the box elsewhere, write down what its ports showed, such as
    --marks "A:# B:% C:14". Exit code 1: the markers do not explain some mark.

    Example: pbmserv blackbox check 7x7 --marks "A:1 B:# C:#" --markers "G1 B2 B4 F5" --way A
    """
    with politely("check"):
        from pbmserv.engine.types import Seat
        from pbmserv.games.blackbox.game import GAME
        from pbmserv.games.blackbox.marker_checks import check_markers, ray_through_markers
        from pbmserv.views.texts import note_sentences

        checked = box_to_show(which)
        view = checked.view(marks_of(checked, marks), markers, "", opened=False)
        notes = check_markers(view)
        drawing = grid(list(ray_through_markers(view, way).view.boxes)) if way else ""
        for line in note_sentences(GAME, notes, ["you"], Seat(0)):
            say(line)
        if drawing:
            say("")
            say(drawing)
        if any(note.kind == "check-wrong" for note in notes):
            raise typer.Exit(1)
