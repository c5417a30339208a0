"""A thread that does its work in rounds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.store.core.writer import Closed

LONGEST_S = 300.0
"""Seconds of silence after which a thread counts as stuck."""

log = logging.getLogger("pbmserv.service")


class Rounds:
    """Calls *do* in a thread: at once, after each pause, and after `ask`.

    An error of *do* is logged, and the next round tries again; the end of the writer ends the
    rounds.

    Args:
        do: one round; a long one checks `ending`.
        name: of the thread.
        pause_s: seconds between two rounds.
        trouble: the log message of a failed round.
        longest_s: most seconds from one `beat` to the next.
        first_s: seconds until the first round.
    """

    def __init__(
        self,
        do: Callable[[], None],
        name: str,
        pause_s: float,
        trouble: str,
        longest_s: float = LONGEST_S,
        first_s: float = 0.0,
    ) -> None:
        self._do = do
        self._pause_s = pause_s
        self._first_s = first_s
        self._trouble = trouble
        self._asked = threading.Event()
        self._stopping = threading.Event()
        self._pulse = Pulse(longest_s)
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    @property
    def ending(self) -> bool:
        """Whether the rounds are about to end."""
        return self._stopping.is_set()

    def beat(self) -> None:
        """Show, in a long round, that it is not stuck."""
        self._pulse.beat()

    def pause(self, seconds: float) -> None:
        """Wait in a round, at most until it should end."""
        self._stopping.wait(seconds)

    def vital(self) -> Vital:
        """Return the state of the thread."""
        return Vital.of(self._thread, self._pulse)

    def start(self) -> None:
        """Begin the first round; until it ends, `vital` counts the thread as at work."""
        if not self._first_s:
            self._pulse.beat()
        self._thread.start()

    def ask(self) -> None:
        """Ask for a round now; from any thread."""
        self._asked.set()

    def stop(self, timeout: float) -> bool:
        """Finish the work in hand and end; return whether that took at most *timeout* seconds."""
        self._stopping.set()
        self._asked.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _work(self) -> None:
        self._asked.wait(self._first_s)
        while not self.ending:
            self._asked.clear()
            self._pulse.beat()
            try:
                self._do()
            except Closed:
                return
            except Exception:  # the next round tries again
                log.exception(self._trouble)
            if not self.ending:  # `clear` may have undone the `set` of `stop`
                self._pulse.rest()
                self._asked.wait(self._pause_s)
