"""Output of commands: plain lines, tables that fit the terminal, and errors on stderr."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

import typer

WIDTH = 76

_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, formats, surrogates, and separators of lines and paragraphs."""


def say(text: str) -> None:
    """Print a text on stdout, without control characters (see `harmless`)."""
    typer.echo(harmless(text))


def complain(text: str) -> None:
    """Print a text on stderr, without control characters."""
    typer.echo(harmless(text), err=True)


def failure(text: str) -> typer.Exit:
    """Print a text on stderr; return an exception with exit code 1, for the caller to raise."""
    complain(text)
    return typer.Exit(1)


def harmless(text: str) -> str:
    """Return *text* with ``?`` for each character that could control a terminal.

    Letters, files and seeds of game IDs are written by other people. They may contain control
    characters, and invisible ones that change the direction of a line. Line ends and tabs stay.
    """
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _CONTROLS else "?"
        for char in text.replace("\r\n", "\n")
    )


UNBOUND = 10_000
"""Columns of output that is not a terminal, so that each row is one line for programs."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    fixed: int = 0,
    whole: Collection[str] = (),
    empty: str = "",
) -> None:
    """Print a table, as wide as the terminal; into a file or a pipe each row is one line.

    Args:
        columns: headings. Cells of a column whose heading ends with ``(UTC)`` are never wrapped.
        rows: a text for each column; markup in them has no effect.
        fixed: number of columns from the left that are never wrapped.
        whole: headings of other columns that are never wrapped, such as addresses to be copied.
        empty: sentence to print in place of a table without rows.
    """
    rows = list(rows)
    if empty and not rows:
        say(empty)
        return
    import shutil
    import sys

    from rich import box
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, heading in enumerate(columns):
        unbroken = index < fixed or heading in whole or heading.endswith("(UTC)")
        grid.add_column(heading, no_wrap=unbroken, overflow="fold")
    for row in rows:
        grid.add_row(*(harmless(cell) for cell in row))
    is_terminal = sys.stdout.isatty()
    width = max(WIDTH, shutil.get_terminal_size().columns) if is_terminal else UNBOUND
    console = Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False)
    console.print(grid)
