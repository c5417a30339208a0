"""What the texts of mails may take on the disk, and what becomes of them when that is used up.

A text is kept for its days if a player has proved to ask for something and it was done; of
everything else nothing is kept, or only as long as the operator wishes. When the quota is used up:

- Texts of mails that led to nothing go first, the oldest first, whatever their days.
- Mails are carried out all the same, only their text is not kept: it is there to look things up.
- Mails that must be kept, since our own code failed on them, or since they are for the postmaster,
  have nothing else that could stand for them: they are put off (451), those for the postmaster,
  whom anybody may write to, at half of the quota.

What is kept for the operator, and what was carried out within its days, is never dropped.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox
from pbmserv.store.tables import MailState

MEASURE_EVERY = timedelta(minutes=5)
"""How often the database is asked what is taken; meanwhile a process counts what it adds."""
UNUSED = (MailState.IGNORED, MailState.ANSWERED)
"""States of mails that led to nothing, in the order in which their texts go."""
FULL = 0.9
"""The part of the quota from which on texts of mails that led to nothing go before their time."""

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
        """Ask the database what is taken, if that was not done lately."""
        if self._measured_at is not None and now - self._measured_at < MEASURE_EVERY:
            return
        with self._database.reading.connect() as connection:
            taken = inbox.octets(connection)
        with self._guard:
            self._taken, self._measured_at = taken, now
        self._tell(sum(taken.values()))

    @property
    def taken(self) -> int:
        """Octets of all texts, as far as this process knows."""
        with self._guard:
            return sum(self._taken.values())

    @property
    def excess(self) -> int:
        """Octets above the level at which texts of mails that led to nothing go."""
        with self._guard:
            return sum(self._taken.values()) - int(self.most * FULL)

    def takes(self, state: str, octets: int) -> bool:
        """Whether a mail's text is kept, and counted from now on."""
        if state not in UNUSED:
            return self._add(state, octets)
        return self._keeps_unused and self.excess + octets <= 0 and self._add(state, octets)

    def takes_kept(self, octets: int, *, for_postmaster: bool) -> bool:
        """The same of a mail that is kept for the operator, else it must be put off."""
        if not for_postmaster:
            return self._add(MailState.KEPT, octets)
        with self._guard:
            kept = self._taken.get(MailState.KEPT, 0)
        return kept + octets <= self.most // 2 and self._add(MailState.KEPT, octets)

    def frees(self, state: str, octets: int) -> None:
        """Texts of mails of that state were emptied."""
        with self._guard:
            self._taken[state] = max(0, self._taken.get(state, 0) - octets)

    def _add(self, state: str, octets: int) -> bool:
        """Count a text, if it fits beside those that must stay: others make room for it soon."""
        with self._guard:
            must_stay = sum(size for became, size in self._taken.items() if became not in UNUSED)
            fits = must_stay + octets <= self.most
            if fits:
                self._taken[state] = self._taken.get(state, 0) + octets
        return fits

    def _tell(self, taken: int) -> None:
        """Tell the operator, once, that there is no room any more, and once that there is."""
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
