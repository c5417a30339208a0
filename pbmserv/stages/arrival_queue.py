"""The queue of arrivals, as play sees it. Each arrival comes once, and the transaction that carries
it out also settles it."""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import arrival_claims, arrivals, mail_stores, settled_arrivals
from pbmserv.store.delivery.arrival_claims import Lease
from pbmserv.store.delivery.arrivals import Arrival
from pbmserv.store.delivery.settled_arrivals import Gone

MOST = 500
"""Most arrivals in memory on SQLite; the others wait in the store."""
CLAIMED = 32
"""Most arrivals that a play claims at once, and most that it has in hand when it claims more. Other
plays, which may be idle, cannot carry these out."""
CLAIMED_OF_LANE = 8
"""Most arrivals of one lane among them, so that a flood leaves room for others."""
LEASE = timedelta(seconds=30)
"""Time for which arrivals stay claimed if their play does not renew the lease: it has ended. Its
successor has the same name, and takes them at once."""
RESULTS_KEPT = timedelta(hours=1)
"""Time for which a page can ask for the result of its form."""


class ArrivalQueue(ABC):
    """The queue between the door and play, and the arrivals that play has in hand. Thread-safe.

    Args:
        mail: the database in which the door puts arrivals, for reading.

    Attributes:
        has_more: whether the store may have more than the last call of `new` returned.
    """

    def __init__(self, mail: Database) -> None:
        self.has_more = True
        self._mail = mail
        self._guard = threading.Lock()
        self._in_hand: dict[int, datetime] = {}

    @abstractmethod
    def new(self) -> list[Arrival]:
        """Return the arrivals since the last call, in their order."""

    @abstractmethod
    def settle(self, connection: Connection, arrival: Arrival, now: datetime, result: Any) -> None:
        """Note in the open transaction that an arrival is done, and its result for a page.

        Raises:
            Gone: another process has carried it out.
        """

    @abstractmethod
    def oldest(self) -> datetime | None:
        """Return the arrival time of the oldest pending arrival, `None` if none is pending."""

    @abstractmethod
    def tidy(self) -> None:
        """Forget old results, and renew the claims of the arrivals in hand."""

    def done(self, arrival: Arrival) -> None:
        """Forget an arrival whose transaction is committed."""
        with self._guard:
            self._in_hand.pop(arrival.id, None)

    def door_beat(self) -> datetime | None:
        """Return when a door gave its last sign of life."""
        with self._mail.reading.connect() as connection:
            return mail_stores.beat_at(connection)

    def _held(self) -> list[int]:
        with self._guard:
            return list(self._in_hand)


class QueueOfTwoStores(ArrivalQueue):
    """Door and play have a SQLite file each; the door removes what play has settled.

    Args:
        mail, game: the two files, for reading.
        store: the name under which arrivals of the mail store are settled in the game store.
        writer: of the game store.
        clock: decides which results are old.
    """

    def __init__(
        self, mail: Database, game: Database, store: str, writer: Writer, clock: Clock
    ) -> None:
        super().__init__(mail)
        self._store = store
        self._game = game
        self._writer = writer
        self._clock = clock
        with mail.reading.connect() as connection:
            first = min(arrivals.numbers(connection), default=0)
        with game.reading.connect() as connection:
            self._settled = settled_arrivals.numbers_since(connection, store, first)
        self._last = 0

    def new(self) -> list[Arrival]:
        self.has_more = len(self._in_hand) >= MOST
        if self.has_more:
            return []
        with self._mail.snapshot() as connection:
            rows = arrivals.after(connection, self._last, MOST)
        self.has_more = len(rows) == MOST
        if rows:
            self._last = rows[-1].id
        pending = [arrival for arrival in rows if arrival.id not in self._settled]
        with self._guard:
            self._in_hand |= {arrival.id: arrival.received_at for arrival in pending}
        return pending

    def settle(self, connection: Connection, arrival: Arrival, now: datetime, result: Any) -> None:
        settled_arrivals.settle(connection, arrival, now, result, store=self._store)

    def oldest(self) -> datetime | None:
        with self._mail.reading.connect() as connection:
            unseen = arrivals.oldest_after(connection, self._last)
        with self._guard:
            in_hand = min(self._in_hand.values(), default=None)
        return min((at for at in (unseen, in_hand) if at is not None), default=None)

    def tidy(self) -> None:
        """Drop the notes about arrivals that the door has removed."""
        oldest_kept = self._clock.now() - RESULTS_KEPT
        with self._mail.reading.connect() as mail, self._game.reading.connect() as game:
            stored = set(arrivals.numbers(mail))
            removed = settled_arrivals.numbers_before(game, self._store, oldest_kept) - stored
        if removed:
            forget = partial(settled_arrivals.forget, store=self._store, gone=removed)
            self._writer.submit(forget).result()
        self._settled &= stored


class QueueOfOneStore(ArrivalQueue):
    """All stages work on one PostgreSQL, where play claims arrivals and removes them.

    Args:
        by: name of this process; no two live ones have the same.
        database: for reading.
        writer: of the same database.
        clock: decides when leases end.
        shares: shares of the queue that are claimed one by one.
    """

    def __init__(
        self,
        by: str,
        database: Database,
        writer: Writer,
        clock: Clock,
        shares: Sequence[int | None],
    ) -> None:
        super().__init__(database)
        self._by = by
        self._shares = shares
        self._writer = writer
        self._clock = clock
        # A predecessor that has ended, or a claim whose answer was lost, may have left arrivals
        # claimed in our name.
        self._may_have_lost = True

    def new(self) -> list[Arrival]:
        if len(self._in_hand) > CLAIMED:
            return []
        if self._may_have_lost:
            self._release_lost()
        now = self._clock.now()
        with self._mail.reading.connect() as connection:
            has_work = arrival_claims.has_free(connection, now)
        claimed = self._claim(now) if has_work else []
        with self._guard:
            self._in_hand |= {arrival.id: arrival.received_at for arrival in claimed}
            # More of their lanes may wait, and other plays may give arrivals back.
            self.has_more = bool(self._in_hand)
        return claimed

    def _claim(self, now: datetime) -> list[Arrival]:
        job = partial(
            arrival_claims.claim,
            lease=Lease(self._by, now, now + LEASE),
            most_of_lane=CLAIMED_OF_LANE,
        )
        self._may_have_lost = True
        claimed = list[Arrival]()
        # In random order, else the last ones would wait longest.
        for share in random.sample(self._shares, len(self._shares)):
            if (most := CLAIMED - len(claimed)) > 0:
                claimed += self._writer.submit(partial(job, most=most, share=share)).result()
        self._may_have_lost = False
        return claimed

    def _release_lost(self) -> None:
        """Give back arrivals that are claimed in our name and not in hand."""
        job = partial(arrival_claims.release_lost, by=self._by, in_hand=self._held())
        for share in self._shares:
            self._writer.submit(partial(job, share=share)).result()
        self._may_have_lost = False

    def settle(self, connection: Connection, arrival: Arrival, now: datetime, result: Any) -> None:
        if not arrival_claims.take(connection, arrival.id):
            raise Gone("carried out by another process")
        if arrival.kind in arrivals.OF_PAGES:
            settled_arrivals.settle(connection, arrival, now, result, store="")

    def oldest(self) -> datetime | None:
        with self._mail.reading.connect() as connection:
            return arrivals.waiting(connection)[1]

    def tidy(self) -> None:
        now = self._clock.now()
        held = self._held()

        def renew(connection: Connection) -> None:
            if held:
                arrival_claims.renew(connection, held, now + LEASE)
            settled_arrivals.prune(connection, now - RESULTS_KEPT)

        self._writer.submit(renew).result()
