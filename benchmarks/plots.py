"""Draws what growth costs, as a PNG. Needs the extra ``bench``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.sizes import Costs

BLUE, GREY = "#1f5fa8", "#999999"


def draw(costs: Mapping[str, Costs], memory: Sequence[tuple[int, float]], file: Path) -> None:
    """Draw costs of a move by size, named after what there is so much of, and the memory of all
    processes by mails."""
    figure = Figure(figsize=(9, 2.6 * ((len(costs) + 2) // 2)), layout="constrained")
    all_axes = figure.subplots((len(costs) + 2) // 2, 2).flat
    for axes, (what, found) in zip(all_axes, costs.items(), strict=False):
        sizes = list(found)
        _line(axes, sizes, list(found.values()), f"a move, among so many {what}", "ms of processor")
        if sizes[-1] > 100 * sizes[0]:
            axes.set_xscale("log")
        axes.axhline(1.25 * found[sizes[0]], color=GREY, linestyle="--", linewidth=1)
    if memory:
        axes = list(figure.axes)[len(costs)]
        mails, taken = zip(*memory, strict=True)
        _line(axes, mails, taken, "all processes, after so many mails", "MB (PSS)")
        axes.axhline(250, color=GREY, linestyle="--", linewidth=1)
    for axes in figure.axes[len(costs) + bool(memory) :]:
        axes.remove()
    figure.savefig(file, dpi=110)


def _line(axes: Axes, x: Sequence[int], y: Sequence[float], title: str, unit: str) -> None:
    axes.plot(x, y, color=BLUE, marker="o", markersize=4)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(unit, fontsize=9)
    axes.set_ylim(0, 1.6 * max(y))
    axes.grid(alpha=0.3)
