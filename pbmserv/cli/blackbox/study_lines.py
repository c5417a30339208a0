"""Lines of a study that both ways to compute it have, and its progress bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from pbmserv.games.blackbox.options import Options

Line: TypeAlias = tuple[str, str]
"""The name of a number, and its value."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a study, shown as a progress bar on stderr."""

    bar: Progress
    task: TaskID

    def begin(self, name: str) -> None:
        """End the previous step, and begin one."""
        self.bar.update(self.task, description=name, advance=1)


@contextmanager
def shown_steps(total: int) -> Iterator[Steps]:
    """Show a progress bar, and remove it at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<36}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    disabled = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=disabled) as bar:
        yield Steps(bar, bar.add_task("", total=total, completed=-1))


def top_ports(options: Options) -> range:
    """Return the ports at the top up to the middle; the others are mirror images."""
    return range((options.width + 1) // 2)


def layouts_and_classes(total: int, sizes: Counter[int]) -> Iterator[Line]:
    """Yield the numbers of layouts and classes.

    Args:
        total: the number of layouts.
        sizes: the number of classes of each size.
    """
    yield "layouts", f"{total:,}"
    yield "classes with the same result at every port", f"{sizes.total():,}"
    shared = {size: count for size, count in sorted(sizes.items()) if size > 1}
    layouts = sum(size * count for size, count in shared.items())
    sets = ", ".join(f"{count:,} of {size}" for size, count in shared.items())
    yield "layouts that are not unique", f"{layouts:,} ({sets})" if shared else "0"


def first_probe(options: Options, counts: Sequence[Counter[int]]) -> Iterator[Line]:
    total = counts[0].total()
    bits = [-sum(n / total * log2(n / total) for n in count.values()) for count in counts]
    names = ", ".join(options.board.ports[port] for port in top_ports(options))
    yield f"bits of a first probe into {names}", " ".join(f"{value:.3f}" for value in bits)


def greedy_play(probes: float, points: float, thrifty: float) -> Iterator[Line]:
    yield "greedy by bits: probes until one class is left", f"{probes:.3f}"
    yield "greedy by bits: points", f"{points:.3f}"
    yield "greedy by bits for each point: points", f"{thrifty:.3f}"
