"""Limits the mails that one network may leave with the postmaster in a day.

Anybody may write to the postmaster, and such mails are stored until an operator has seen them. So
the large ones of one network may take a tenth of the room a day. Small ones are always accepted,
as long as there is room at all (`Quota.take_room`). The counts are in the memory of one process.
"""

from __future__ import annotations

from limits import RateLimitItemPerDay
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

SMALL = 16_384
"""Largest mail that is not counted: a question of a person is smaller."""
PARTS = 10
"""Number of networks that could fill the room in a day."""


class PostmasterShares:
    """The shares of networks. Thread-safe.

    Args:
        room: octets that mails to the postmaster may take in all.
    """

    def __init__(self, room: int) -> None:
        self._share = RateLimitItemPerDay(max(1, room // PARTS), 1, "postmaster")
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def is_open(self, network: str, octets: int) -> bool:
        """Return whether a mail may be stored: it is small, or its network has some share left.

        Args:
            network: ``""`` if unknown; all unknown networks have one share.
        """
        return octets <= SMALL or self._limiter.test(self._share, network or "unknown")

    def add(self, network: str, octets: int) -> None:
        """Count a stored mail; the last one of a day may exceed the share."""
        if octets > SMALL:
            left = self._limiter.get_window_stats(self._share, network or "unknown").remaining
            self._limiter.hit(self._share, network or "unknown", cost=max(1, min(octets, left)))
