"""Pauses of the whole machine, so that no work counts as stuck because of them."""

from __future__ import annotations

from time import monotonic

PAUSE_S = 2.0
"""Seconds between two looks that show a pause of this process."""


class Pauses:
    """Notices that this process, and with it all others, stood still: a suspended laptop, a paused
    container."""

    def __init__(self) -> None:
        self._looked_at = self._over_at = monotonic()

    def look(self) -> float:
        """Return the end of the newest pause in seconds of `monotonic`; call it much more often
        than every `PAUSE_S`."""
        now = monotonic()
        if now - self._looked_at > PAUSE_S:
            self._over_at = now
        self._looked_at = now
        return self._over_at
