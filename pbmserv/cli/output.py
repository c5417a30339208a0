"""How commands speak: plain lines, tables of 76 columns, and reasons on stderr."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import typer

WIDTH = 76


def say(text: str) -> None:
    """One text on stdout, as it is."""
    typer.echo(text)


def complain(text: str) -> None:
    """One text on stderr."""
    typer.echo(text, err=True)


def failure(text: str) -> typer.Exit:
    """Say *text* on stderr; the caller raises what comes back, which is exit code 1."""
    complain(text)
    return typer.Exit(1)


def harmless(text: str) -> str:
    """*text* with everything that could steer a terminal made visible as ``?``.

    Letters quote what other people wrote. Line ends and tabs stay.
    """
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"} else "?"
        for char in text.replace("\r\n", "\n")
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], fixed: int = 0) -> None:
    """Print a table at most `WIDTH` columns wide.

    Args:
        columns: headings.
        rows: one text for each column; nothing in them is read as markup.
        fixed: so many columns from the left are never broken over lines.
    """
    import sys

    from rich import box
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, heading in enumerate(columns):
        grid.add_column(heading, no_wrap=index < fixed, overflow="fold")
    for row in rows:
        grid.add_row(*(harmless(cell) for cell in row))
    console = Console(file=sys.stdout, width=WIDTH, markup=False, highlight=False, emoji=False)
    console.print(grid)
