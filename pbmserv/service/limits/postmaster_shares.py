"""Limits the mails that one network may leave with the postmaster in a day.

Anybody may write to the postmaster, and such mails are kept until an operator has seen them. So
the large ones of one network take a tenth of the room a day at most. Small ones are always taken,
as far as the whole room allows (`Quota.has_room`). The counts are in the memory of one process.
"""

from __future__ import annotations

from limits import RateLimitItemPerDay
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

SMALL = 16_384
"""Octets of a mail that is not counted: what a person writes who asks for help."""
PARTS = 10
"""Networks that fill the room together in a day."""


class PostmasterShares:
    """The shares of networks. Thread-safe.

    Args:
        room: octets that mails to the postmaster may take in all.
    """

    def __init__(self, room: int) -> None:
        self._share = RateLimitItemPerDay(max(1, room // PARTS), 1, "postmaster")
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def is_open(self, network: str, octets: int) -> bool:
        """Return whether a mail may be kept: it is small, or its network has some share left.

        Args:
            network: ``""`` where it is unknown; these share one share.
        """
        return octets <= SMALL or self._limiter.test(self._share, network or "unknown")

    def add(self, network: str, octets: int) -> None:
        """Count a mail that is kept; the last one of a day may be larger than what is left."""
        if octets > SMALL:
            left = self._limiter.get_window_stats(self._share, network or "unknown").remaining
            self._limiter.hit(self._share, network or "unknown", cost=max(1, min(octets, left)))
