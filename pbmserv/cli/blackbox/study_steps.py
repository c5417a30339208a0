"""The progress bar of a study."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


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
