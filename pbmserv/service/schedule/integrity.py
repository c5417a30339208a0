"""Reads all pages of the stores once a day, so that damage is known while the copies are good."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pbmserv.service.rounds import Rounds
from pbmserv.store.core.database import Database
from pbmserv.store.operators.integrity import damage

EVERY_S = 86_400.0
FIRST_S = 300.0
"""Seconds after the start until the first look, so that it slows no start down."""
LONGEST_S = EVERY_S
"""Seconds that a look at a very large database may take."""

log = logging.getLogger("pbmserv.service")


class Integrity(Rounds):
    """Looks at the stores in a thread.

    Attributes:
        damage: the first damaged page that the newest look found; ``""`` for none.
    """

    def __init__(self, stores: Iterable[Database]) -> None:
        self._stores = tuple(dict.fromkeys(stores))
        self.damage = ""
        super().__init__(
            self._look,
            "integrity",
            EVERY_S,
            "the pages of the database could not be read",
            LONGEST_S,
            FIRST_S,
        )

    def _look(self) -> None:
        faults = [damage(store, lambda: self.ending) for store in self._stores]
        if self.ending:
            return
        self.damage = next(filter(None, faults), "")
        if self.damage:
            log.critical("the database is damaged; restore a copy", extra={"page": self.damage})
