"""Limits the mails that one network may leave with the postmaster in a day.

Anybody may write to the postmaster, and such mails are stored until an operator has seen them. So
the large ones of one network may take a tenth of the room a day. Small ones are always accepted,
as long as there is room at all (`Quota.take_room`). The counts are in the memory of one process.
"""

from __future__ import annotations

from limits import RateLimitItemPerDay
from limits.strategies import MovingWindowRateLimiter

from pbmserv.clock import Clock
from pbmserv.service.limits.clock_storage import ClockStorage

SMALL = 16_384
"""Largest mail that is not counted: a question of a person is smaller."""
PARTS = 10
"""Number of networks that could fill the room in a day."""
_UNIT = 1_024
"""Octets that are counted as one."""


class PostmasterShares:
    """The shares of networks. Callers serialize their calls.

    Args:
        room: octets that mails to the postmaster may take in all.
    """

    def __init__(self, room: int, clock: Clock) -> None:
        self._share = RateLimitItemPerDay(room // PARTS // _UNIT + 1, 1, "postmaster")
        self._windows = MovingWindowRateLimiter(ClockStorage(clock))

    def is_open(self, network: str, octets: int) -> bool:
        """Return whether a mail may be stored: it is small, or its network has some share left.

        Args:
            network: ``""`` if unknown; all unknown networks have one share.
        """
        return octets <= SMALL or self._windows.test(self._share, network)

    def add(self, network: str, octets: int) -> None:
        """Count a stored mail; the last one of a day may exceed the share."""
        if octets > SMALL:
            left = self._windows.get_window_stats(self._share, network).remaining
            self._windows.hit(self._share, network, cost=min(octets // _UNIT, left))
