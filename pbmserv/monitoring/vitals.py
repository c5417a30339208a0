"""Signs of life of threads: a thread beats while it works, and others check it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Protocol


class Pulse:
    """The sign of life of one thread; others read it without a lock.

    Args:
        longest_s: seconds that one piece of its work may take.
    """

    def __init__(self, longest_s: float) -> None:
        self.longest_s = longest_s
        self._beat_at: float | None = None

    def beat(self) -> None:
        """Note that a piece of work begins or goes on."""
        self._beat_at = monotonic()

    def rest(self) -> None:
        """Note that the thread waits for work."""
        self._beat_at = None

    @property
    def silent_s(self) -> float:
        """Return the seconds since the last beat, 0 while the thread waits for work."""
        beat_at = self._beat_at
        return 0.0 if beat_at is None else monotonic() - beat_at


class Watch(Protocol):
    """Tells the supervisor the current work of a process, and a process the work over which its
    predecessors were killed.
    """

    def doing(self, number: int) -> AbstractContextManager[None]:
        """Show the letter that is being made, or the board that a bot thinks about, inside a
        ``with`` block."""
        ...

    def killed_over(self) -> Mapping[int, int]:
        """Return how often predecessors were killed, by the number of their work."""
        ...


@dataclass(frozen=True, slots=True)
class Vital:
    """The state of a thread.

    Attributes:
        is_alive: whether it runs.
        silent_s: seconds since its last beat.
        longest_s: seconds after which it counts as stuck.
    """

    name: str
    is_alive: bool
    silent_s: float
    longest_s: float

    @classmethod
    def of(cls, thread: Thread, pulse: Pulse) -> Vital:
        """Return the current state of a thread."""
        return cls(thread.name, thread.is_alive(), pulse.silent_s, pulse.longest_s)

    @property
    def is_stuck(self) -> bool:
        return self.silent_s > self.longest_s
