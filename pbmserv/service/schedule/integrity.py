"""Reads all pages of the stores once a day, so that damage is known while the copies are good."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pbmserv.service.rounds import Rounds
from pbmserv.store.core.database import Database
from pbmserv.store.operators.integrity import damage

EVERY_S = 86_400.0
FIRST_S = 300.0
"""Seconds from the start to the first check, so that it does not slow the start."""
LONGEST_S = EVERY_S
"""Seconds that a check of a very large database may take."""

log = logging.getLogger("pbmserv.service")


class Integrity(Rounds):
    """Checks the stores in a thread.

    Attributes:
        damage: the first damaged page that the newest check found; ``""`` for none.
    """

    def __init__(self, stores: Iterable[Database]) -> None:
        self._stores = tuple(dict.fromkeys(stores))
        self.damage = ""
        super().__init__(
            self._check,
            "integrity",
            EVERY_S,
            "the pages of the database could not be read",
            LONGEST_S,
            FIRST_S,
        )

    def _check(self) -> None:
        faults = [damage(store, lambda: self.ending) for store in self._stores]
        if self.ending:
            return
        self.damage = next(filter(None, faults), "")
        if self.damage:
            log.critical("the database is damaged; restore a copy", extra={"page": self.damage})
