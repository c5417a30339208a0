"""How commands speak: plain lines, tables that fit the terminal, and reasons on stderr."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

import typer

WIDTH = 76

_STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's controls, formats, halves of characters, and its own ends of lines and paragraphs."""


def say(text: str) -> None:
    """One text on stdout; nothing in it can steer a terminal (see `harmless`)."""
    typer.echo(harmless(text))


def complain(text: str) -> None:
    """One text on stderr, as harmless."""
    typer.echo(harmless(text), err=True)


def failure(text: str) -> typer.Exit:
    """Say *text* on stderr; the caller raises what comes back, which is exit code 1."""
    complain(text)
    return typer.Exit(1)


def harmless(text: str) -> str:
    """*text* with everything that could steer a terminal made visible as ``?``.

    Letters, files and the seeds of game IDs hold what other people wrote: control characters,
    and those that turn the direction of a line or hide in it. Line ends and tabs stay.
    """
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _STEERING else "?"
        for char in text.replace("\r\n", "\n")
    )


def one_of(option: str, given: str, known: Sequence[str]) -> str:
    """*given* in lower case; "" says nothing and is always right.

    Raises:
        typer.BadParameter: it is none of *known*.
    """
    found = given.strip().lower()
    if found and found not in known:
        raise typer.BadParameter(f"{option} is one of: {', '.join(known)}")
    return found


UNBOUND = 10_000
"""Columns where nobody looks: what programs read stands in one line."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    fixed: int = 0,
    whole: Collection[str] = (),
) -> None:
    """Print a table, as wide as the terminal; into a file or a pipe each row is one line.

    Args:
        columns: headings; what stands below one that ends with ``(UTC)`` is never broken.
        rows: one text for each column; nothing in them is read as markup.
        fixed: so many columns from the left are never broken over lines.
        whole: headings of others that are not, such as addresses that are to be copied.
    """
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
    seen = sys.stdout.isatty()
    width = max(WIDTH, shutil.get_terminal_size().columns) if seen else UNBOUND
    console = Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False)
    console.print(grid)
