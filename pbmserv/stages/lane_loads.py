"""The load of each lane, by which the door refuses mails of a sender who has sent too much."""

from __future__ import annotations

from collections.abc import Mapping

from pbmserv.mail.envelope import Source

LANE_MAILS = 100
LANE_OCTETS = 8 * 1_048_576
"""Most mails and octets (eight of the largest mails) that may wait in one lane."""


class LaneLoads:
    """The mails and octets that wait in each lane, as a door knows them. Thread-safe.

    The door counts the mails that it stores, and replaces its counts by the store's every second.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[int, int]] = {}

    def replace(self, waiting: Mapping[str, tuple[int, int]]) -> None:
        """Replace the counts: mails and octets by lane."""
        self._waiting = dict(waiting)

    def lane_for(self, source: Source, player: int, octets: int) -> str | None:
        """Count one more mail and return its lane; `None` if the lane is full.

        A mail to a reply address belongs to the lane of the address's player, another one to that
        of its sender and network.
        """
        lane = f"player {player}" if player else f"{source.network} {source.sender}"[:300]
        mails, before = self._waiting.get(lane, (0, 0))
        if mails >= LANE_MAILS or before + octets > LANE_OCTETS:
            return None
        self._waiting[lane] = mails + 1, before + octets
        return lane
