"""``pbmserv blackbox show``, ``check`` and ``print``: boxes on the screen and on paper."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.blackbox.arguments import (
    Ids,
    Markers,
    Marks,
    Unusable,
    Which,
    every_box,
    grid,
    marks_of,
    politely,
    subject,
)
from pbmserv.cli.output import say
from pbmserv.extras import require

if TYPE_CHECKING:
    from pbmserv.games.blackbox.views import BoxView


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
        shown = subject(which)
        view = shown.view(marks_of(shown, marks), markers, seals, solution)
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
        from pbmserv.games.blackbox.analysis import check_markers
        from pbmserv.games.blackbox.game import GAME
        from pbmserv.views.texts import note_sentences

        checked = subject(which)
        view = checked.view(marks_of(checked, marks), markers, "", opened=False)
        notes = check_markers(view)
        drawing = _with_way(view.boxes[0], way) if way else ""
        for line in note_sentences(GAME, notes, ["you"], Seat(0)):
            say(line)
        if drawing:
            say("")
            say(drawing)
        if any(note.kind == "check-wrong" for note in notes):
            raise typer.Exit(1)


def _with_way(box: BoxView, label: str) -> str:
    """Return a drawing with ``*`` on the cells that a ray passes among the markers.

    Raises:
        Unusable: there is no such port.
    """
    from pbmserv.games.blackbox.rays import cells_passed

    port = box.board.port(label.strip().upper())
    if port is None:
        raise Unusable(
            f'"{label[:20]}" is not a port of a {box.board.width}x{box.board.height} board.'
        )
    path = frozenset(cells_passed(box.board, box.markers, port))
    return grid([replace(box, path=path)])


MOST_BOXES = 1000
MOST_ACROSS = 10


class Paper(StrEnum):
    """Sizes of paper."""

    A4 = "a4"
    LETTER = "letter"


def print_(
    layout: Annotated[
        str,
        typer.Argument(metavar="COLSxROWS", help="Puzzles across and down a page, such as 2x3."),
    ],
    ids: Ids = None,
    with_solutions: Annotated[
        bool, typer.Option("--with-solutions", help="Add pages with the solutions.")
    ] = False,
    scale: Annotated[
        float, typer.Option("--scale", min=0.1, max=10, help="Make puzzles larger or smaller.")
    ] = 1.0,
    colour: Annotated[bool, typer.Option("--colour", "--color", help="Print in colour.")] = False,
    blank: Annotated[
        bool, typer.Option("--blank", help="Leave the ports empty, for two players and a pencil.")
    ] = False,
    paper: Annotated[Paper, typer.Option("--paper", help="The puzzles fit on both.")] = Paper.A4,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Printed above every page.")
    ] = ("Blackbox"),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the PDF into this file."),
    ] = None,
) -> None:
    """Print puzzles as a PDF: each box shows all its ports; you find the atoms.

    A page holds COLS puzzles across and ROWS down. Give game IDs as arguments,
    or one a line on standard input. The PDF goes to standard output.

    Example: pbmserv blackbox generate 12 8x8/5 | pbmserv blackbox print 2x3 > boxes.pdf
    """
    with politely("print"):
        require("fpdf")
        shape = re.fullmatch(r"([1-9][0-9]?)[xX\u00d7]([1-9][0-9]?)", layout)
        if not shape or max(int(shape[1]), int(shape[2])) > MOST_ACROSS:
            most = f"{MOST_ACROSS}x{MOST_ACROSS}"
            raise Unusable(
                f'"{layout[:20]}" is not a layout; write one from 1x1 to {most}, such as 2x3.'
            )
        if not all(" " <= char <= "~" or "\u00a0" <= char <= "\u00ff" for char in title):
            raise Unusable("--title can only have Latin letters; the PDF's font has no others.")
        if output is None and sys.stdout.isatty():
            raise Unusable("a terminal cannot show a PDF; write: print 2x3 > boxes.pdf")
        boxes = list(islice(every_box(ids), MOST_BOXES + 1))
        if not boxes:
            raise Unusable(
                "there are no game IDs. Example: generate 12 8x8/5 | print 2x3 > boxes.pdf"
            )
        if len(boxes) > MOST_BOXES:
            raise Unusable(f"that is more than {MOST_BOXES} puzzles.")
        from pbmserv.cli.blackbox.pdf import Look, pages

        look = Look(
            int(shape[1]), int(shape[2]), scale, colour, paper.value, blank, title.strip() or " "
        )
        octets = pages(boxes, look, with_solutions)
        if output is None:
            sys.stdout.buffer.write(octets)
            sys.stdout.buffer.flush()
        else:
            output.write_bytes(octets)
