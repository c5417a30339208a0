"""How often the door's event loop looks whether clients have said something."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable
from time import monotonic, sleep

COALESCE_S = 0.001
"""Seconds that the loop lets events gather. Each of a mail's four may wait so long."""
EVENTS, WITHIN_S, SOCKETS = 8, 0.006, 4
"""Much is said where so many events came within such a time, from so many sockets or more."""
FEW = 2
"""Events that are too few for a look of their own, while much is said."""
CROWDED_S = 1.0
"""Seconds since much was said last, after which a crowd is over."""


class CoalescingSelector(selectors.DefaultSelector):
    """Lets events gather for a moment while several clients say much, each in its own time.

    To wake up for one event takes as long as to serve it, and puts play off, whose processor the
    door shares (interrupt coalescing, as network cards do it; docs/decisions/0103). One client
    alone is never kept waiting, nor are clients whose events come together by themselves.

    Args:
        tell_crowded: is told when a crowd of clients begins to say much, and when it is over.
        pause: waits for so many seconds.
    """

    def __init__(
        self, tell_crowded: Callable[[bool], None], pause: Callable[[float], None] = sleep
    ) -> None:
        super().__init__()
        self._tell_crowded, self._pause = tell_crowded, pause
        self._newest: deque[tuple[float, int]] = deque(maxlen=EVENTS)
        self._is_much_said = self._is_crowded = False
        self._found, self._much_said_at = 0, 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As `selectors.BaseSelector.select`."""
        if self._is_much_said and self._found <= FEW and (timeout is None or timeout > COALESCE_S):
            self._pause(COALESCE_S)
        found = super().select(timeout)
        if found:
            self._note(found)
        return found

    def _note(self, found: list[tuple[selectors.SelectorKey, int]]) -> None:
        newest, now = self._newest, monotonic()
        newest.extend([(now, key.fd) for key, _ in found])
        self._found = len(found)
        self._is_much_said = (
            len(newest) == EVENTS
            and newest[0][0] >= now - WITHIN_S
            and len({fd for _, fd in newest}) >= SOCKETS
        )
        if self._is_much_said:
            self._much_said_at = now
        is_crowded = self._is_much_said or (
            self._is_crowded and now < self._much_said_at + CROWDED_S
        )
        if is_crowded != self._is_crowded:
            self._is_crowded = is_crowded
            self._tell_crowded(is_crowded)
