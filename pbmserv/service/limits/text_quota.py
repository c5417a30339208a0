"""The room that texts of mails may take.

When the quota is used up:

- Texts of mails that led to nothing are dropped first, the oldest first, even before their days
  are over.
- Mails are still carried out, but their texts are not kept.
- Mails for the postmaster, to whom anybody may write, are put off (451): large ones from half of
  the quota on, small ones from three quarters on.
- A mail on which our own code failed is kept even if there is no room: it had its 250, and a person
  must see it.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from pbmserv.service.limits.postmaster_shares import SMALL
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox

MEASURE_EVERY = timedelta(minutes=5)
"""Time after which the database is asked again for the room in use. Until then a process counts its
own use."""
UNUSED = ("ignored", "answered")
"""States of mails that led to nothing, in the order in which their texts go."""
FULL = 0.9
"""The part of the quota above which texts of mails that led to nothing go early."""

log = logging.getLogger("pbmserv.service")


class Quota:
    """The room for texts of mails. Thread-safe.

    Args:
        most: octets in all.
        keeps_unused: whether texts of mails that led to nothing are kept at all.
    """

    def __init__(self, database: Database, most: int, *, keeps_unused: bool) -> None:
        self.most = most
        self._keeps_unused = keeps_unused
        self._database = database
        self._guard = threading.Lock()
        self._taken: dict[str, int] = {}
        self._measured_at: datetime | None = None
        self._was_full = False

    def measure(self, now: datetime) -> None:
        """Ask the database for the room in use, if that was not done lately."""
        if self._measured_at is not None and now - self._measured_at < MEASURE_EVERY:
            return
        with self._database.reading.connect() as connection:
            taken = inbox.octets(connection)
        with self._guard:
            taken["waiting"] = self._taken.get("waiting", 0)  # waiting mails are in another table
            self._taken, self._measured_at = taken, now

    @property
    def taken(self) -> int:
        """Octets of all texts that this process knows of."""
        with self._guard:
            return sum(self._taken.values())

    @property
    def excess(self) -> int:
        """Octets above the level at which texts of mails that led to nothing are dropped."""
        with self._guard:
            return sum(self._taken.values()) - int(self.most * FULL)

    def keep_text(self, state: str, octets: int) -> bool:
        """Count the text of a mail if there is room for it; return whether it is kept."""
        if state in UNUSED and not (self._keeps_unused and self.excess + octets <= 0):
            return False
        with self._guard:
            must_stay = sum([size for became, size in self._taken.items() if became not in UNUSED])
            if must_stay + octets > self.most:  # texts of the other states are dropped soon
                return False
            self._taken[state] = self._taken.get(state, 0) + octets
        return True

    def count_kept(self, octets: int) -> None:
        """Count a mail that is kept for the operator."""
        with self._guard:
            self._taken["kept"] = self._taken.get("kept", 0) + octets

    def take_room(self, octets: int, *, for_postmaster: bool) -> bool:
        """Count a waiting mail if there is room for it; return whether there is.

        Mails for the postmaster are kept, and anybody may write them. They may take half of the
        quota, and a quarter more if they are small.
        """
        with self._guard:
            waiting = self._taken.get("waiting", 0)
            kept = self._taken.get("kept", 0) + octets
            quarters = 3 if octets <= SMALL else 2
            if waiting + octets > self.most:
                return False
            if for_postmaster and kept > self.most * quarters // 4:
                return False
            self._taken["waiting"] = waiting + octets
            if for_postmaster:
                self._taken["kept"] = kept
        return True

    def set_waiting(self, octets: int) -> None:
        """Replace the octets of waiting mails."""
        with self._guard:
            self._taken["waiting"] = octets

    def count_dropped(self, state: str, octets: int) -> None:
        """Count texts of mails of that state that were dropped."""
        with self._guard:
            self._taken[state] = max(0, self._taken.get(state, 0) - octets)

    def log_changes(self) -> None:
        """Log once when the quota is nearly used up, and once when there is room again."""
        taken = self.taken
        is_full = taken > self.most * FULL
        if is_full and not self._was_full:
            log.error(
                "the texts of mails take nearly all that PBMSERV_INBOX_OCTETS allows; "
                "see `pbmserv inbox list` for those that wait for you",
                extra={"octets": taken, "allowed": self.most},
            )
        elif self._was_full and not is_full:
            log.info("there is room again for the texts of mails", extra={"octets": taken})
        self._was_full = is_full
