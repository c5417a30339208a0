"""``pbmserv blackbox print``: puzzles on paper."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from pbmserv.cli.blackbox.arguments import BoxOfId, Ids, every_box
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.extras import require

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
    ] = "Blackbox",
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
        columns, rows = _columns_and_rows(layout)
        if not all(" " <= char <= "~" or "\u00a0" <= char <= "\u00ff" for char in title):
            raise Unusable("--title can only have Latin letters; the PDF's font has no others.")
        if output is None and sys.stdout.isatty():
            raise Unusable("a terminal cannot show a PDF; write: print 2x3 > boxes.pdf")
        boxes = _boxes_to_print(ids)
        from pbmserv.cli.blackbox.pdf import Look, pages

        look = Look(columns, rows, scale, colour, paper.value, blank, title.strip() or " ")
        octets = pages(boxes, look, with_solutions)
        if output is None:
            sys.stdout.buffer.write(octets)
            sys.stdout.buffer.flush()
        else:
            output.write_bytes(octets)


def _columns_and_rows(layout: str) -> tuple[int, int]:
    """Return the numbers of a layout such as ``2x3``.

    Raises:
        Unusable: the text is not a layout, or a page would have too many puzzles.
    """
    shape = re.fullmatch(r"([1-9][0-9]?)[xX\u00d7]([1-9][0-9]?)", layout)
    if not shape or max(int(shape[1]), int(shape[2])) > MOST_ACROSS:
        most = f"{MOST_ACROSS}x{MOST_ACROSS}"
        raise Unusable(
            f'"{layout[:20]}" is not a layout; write one from 1x1 to {most}, such as 2x3.'
        )
    return int(shape[1]), int(shape[2])


def _boxes_to_print(ids: Sequence[str] | None) -> list[BoxOfId]:
    """Return the boxes of the IDs; see `every_box`.

    Raises:
        Unusable: there are none, or too many.
    """
    boxes = list(islice(every_box(ids), MOST_BOXES + 1))
    if not boxes:
        raise Unusable("there are no game IDs. Example: generate 12 8x8/5 | print 2x3 > boxes.pdf")
    if len(boxes) > MOST_BOXES:
        raise Unusable(f"that is more than {MOST_BOXES} puzzles.")
    return boxes
