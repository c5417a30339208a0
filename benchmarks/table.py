"""The lines of the table: what was measured, how fast it must be, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement.

    Attributes:
        bar: number of the line in the bar (benchmarks/README.md), "" for none.
        what: in a few words.
        limit: what is asked for, as a reader writes it; "" when nothing is.
        measured: the result with its unit.
        met: whether it is what was asked for; ``None`` when nothing is.
    """

    bar: str
    what: str
    limit: str
    measured: str
    met: bool | None


def at_least(bar: str, what: str, limit: float, value: float, unit: str, note: str = "") -> Line:
    """A line whose value must be *limit* or more."""
    shown = _with_note(_value(value, unit), note)
    return Line(bar, what, f">= {_value(limit, unit)}", shown, value >= limit)


def at_most(bar: str, what: str, limit: float, value: float, unit: str, note: str = "") -> Line:
    """A line whose value must be *limit* or less."""
    shown = _with_note(_value(value, unit), note)
    return Line(bar, what, f"<= {_value(limit, unit)}", shown, value <= limit)


def told(what: str, measured: str) -> Line:
    """A line that nothing is asked of."""
    return Line("", what, "", measured, None)


def printed(lines: list[Line]) -> str:
    """The table as text."""
    rows = [["bar", "what", "asked", "measured", ""]]
    rows += [[x.bar, x.what, x.limit, x.measured, _verdict(x)] for x in lines]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _verdict(line: Line) -> str:
    return "" if line.met is None else "met" if line.met else "NOT MET"


def _value(value: float, unit: str) -> str:
    return f"{value:,.2f} {unit}".rstrip() if value < 100 else f"{value:,.0f} {unit}".rstrip()


def _with_note(value: str, note: str) -> str:
    return f"{value} ({note})" if note else value
