"""How often the door's event loop looks whether clients have said something."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable
from time import monotonic, sleep

COALESCE_S = 0.003
"""Seconds that the loop lets events gather. Each of a mail's four may wait so long."""
EVENTS, WITHIN_S, SOCKETS = 8, 0.012, 4
"""Much is said where so many events came within such a time, from so many sockets or more."""
FEW = 3
"""Events that are too few for a look of their own, while much is said."""
AT_ONCE, TRIAL, KEPT = range(3)
"""While much is said events are served at once, then they gather on trial, and then it goes on as
was better."""
PHASES_S = (0.1, 0.1, 2.0)
"""Seconds that each of these lasts."""
MORE = 1.2
"""Clients that say so many times as much when they are served at once wait for our answers."""
CROWDED_S = 1.0
"""Seconds since the loop has last let events gather, after which a crowd is over."""


class CoalescingSelector(selectors.DefaultSelector):
    """Lets events gather for a moment while several clients say much, each in its own time.

    To wake up for one event takes as long as to serve it, and puts play off, whose processor the
    door shares (interrupt coalescing, as network cards do it; docs/decisions/0103). One client
    alone is never kept waiting, nor are clients whose events come together by themselves, nor
    those who would say more if they were not: that is tried.

    Args:
        tell_crowded: is told when a crowd of such clients begins, and when it is over.
        pause: waits for so many seconds.
    """

    def __init__(
        self, tell_crowded: Callable[[bool], None], pause: Callable[[float], None] = sleep
    ) -> None:
        super().__init__()
        self._tell_crowded, self._pause = tell_crowded, pause
        self._newest: deque[tuple[float, int]] = deque(maxlen=EVENTS)
        self._found, self._crowded_until = 0, 0.0
        self._phase, self._phase_begun, self._said = KEPT, 0.0, 0
        self._rate_at_once, self._gathers = 0.0, False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As `selectors.BaseSelector.select`."""
        is_free = timeout is None or timeout > COALESCE_S
        paused = is_free and self._found <= FEW and self._is_much_said and self._lets_gather()
        if paused:
            self._pause(COALESCE_S)
        found = super().select(timeout)
        if paused and len(found) < 2:  # nothing has gathered: who speaks next waits for this answer
            self._newest.clear()
        if found:
            self._found, now = len(found), monotonic()
            self._said += self._found
            self._newest.extend([(now, key.fd) for key, _ in found])
            if 0.0 < self._crowded_until < now:
                self._crowded_until = 0.0
                self._tell_crowded(False)
        return found

    @property
    def _is_much_said(self) -> bool:
        newest = self._newest
        if len(newest) < EVENTS or newest[0][0] < monotonic() - WITHIN_S:
            return False
        return len({fd for _, fd in newest}) >= SOCKETS

    def _lets_gather(self) -> bool:
        now = monotonic()
        lasted = now - self._phase_begun
        if lasted >= PHASES_S[self._phase]:
            rate = self._said / lasted
            is_over = lasted > PHASES_S[self._phase] + CROWDED_S  # much was said long ago
            if self._phase == AT_ONCE:
                self._rate_at_once = rate
            self._phase = AT_ONCE if is_over else (self._phase + 1) % len(PHASES_S)
            is_better = self._phase == KEPT and self._rate_at_once < MORE * rate
            self._gathers = self._phase == TRIAL or is_better
            self._phase_begun, self._said = now, 0
        if self._gathers and self._phase == KEPT:
            if not self._crowded_until:
                self._tell_crowded(True)
            self._crowded_until = now + CROWDED_S
        return self._gathers
