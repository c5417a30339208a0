"""Tables of a text letter: sets columns side by side, and finds the lists in pages of text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

BETWEEN = "  "
NARROWEST = 8
"""A column that must give way stays at least this wide (or as wide as it is)."""

_DEFINED = re.compile(r"  (\S+(?: {1,2}\S+)*) {2,}([^\s|](?:(?!  ).)*)")
_GOES_ON = re.compile(r" {4,}[^\s|].*")


def aligned(text: str, width: int = 76) -> str:
    """Lines of cells with ``|`` between them as a table; the first line has the headings.

    Columns of numbers stand to the right. Where the table is too wide, the widest column gives
    way and its cells go on in lines below.
    """
    rows = [
        [cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.strip()
    ]
    if not rows:
        return ""
    count = max(map(len, rows))
    rows = [row + [""] * (count - len(row)) for row in rows]
    columns = list(zip(*rows, strict=True))
    widths = _fitted([max(1, *map(len, column)) for column in columns], width)
    right = [all(_is_number(cell) for cell in column[1:]) and len(rows) > 1 for column in columns]
    lines: list[str] = []
    for row in rows:
        lines += _lines(row, widths, right)
    return "\n".join(lines) + "\n"


def definitions(block: str) -> list[tuple[str, str]]:
    """Terms and what they mean, where the block is a list of them; else none.

    A line is indented by two, and two blanks or more stand between term and meaning; deeper lines
    go on with the meaning above.
    """
    found: list[tuple[str, str]] = []
    for line in block.strip("\n").splitlines():
        if begun := _DEFINED.fullmatch(line):
            found.append((begun[1], begun[2].strip()))
        elif found and _GOES_ON.fullmatch(line):
            term, meaning = found[-1]
            found[-1] = (term, f"{meaning} {line.strip()}")
        else:
            return []
    return found


def _fitted(widths: list[int], width: int) -> list[int]:
    room = width - len(BETWEEN) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _is_number(cell: str) -> bool:
    return cell.removeprefix("+").removeprefix("-").removesuffix("?").isdigit()


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
        for cell, width in zip(row, widths, strict=True)
    ]
    lines = []
    for at in range(max(map(len, cells))):
        texts = [cell[at] if at < len(cell) else "" for cell in cells]
        placed = [
            text.rjust(width) if numbers else text.ljust(width)
            for text, width, numbers in zip(texts, widths, right, strict=True)
        ]
        lines.append(BETWEEN.join(placed).rstrip())
    return lines
