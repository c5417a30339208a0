"""The table that `make bench` prints: measurements, their limits, and whether they are met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement.

    Attributes:
        what: what was measured, in a few words.
        limit: the limit, for readers; "" if there is none.
        measured: the result with its unit.
        met: whether the result is within the limit; ``None`` if there is no limit or no result.
    """

    what: str
    limit: str
    measured: str
    met: bool | None


def at_least(what: str, limit: float, value: float, unit: str, note: str = "") -> Line:
    """Return a line for a value that must not be below the limit."""
    return Line(what, f">= {_text(limit, unit)}", _with_note(value, unit, note), value >= limit)


def at_most(what: str, limit: float, value: float, unit: str, note: str = "") -> Line:
    """Return a line for a value that must not be above the limit."""
    return Line(what, f"<= {_text(limit, unit)}", _with_note(value, unit, note), value <= limit)


def not_run(what: str, reason: str) -> Line:
    """Return a line for a measurement that is impossible here."""
    return Line(what, "", f"not run: {reason}", None)


def as_text(lines: list[Line]) -> str:
    """Return the table as text."""
    rows = [["what", "limit", "measured", ""]]
    rows += [[line.what, line.limit, line.measured, _verdict(line)] for line in lines]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _verdict(line: Line) -> str:
    if line.met is None:
        return ""
    return "met" if line.met else "missed"


def _text(value: float, unit: str) -> str:
    return f"{value:,.2f} {unit}".rstrip() if value < 100 else f"{value:,.0f} {unit}".rstrip()


def _with_note(value: float, unit: str, note: str) -> str:
    return f"{_text(value, unit)} ({note})" if note else _text(value, unit)
