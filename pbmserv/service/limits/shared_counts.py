"""Makes all processes over one database count together.

Each keeps what is counted in its own memory (`windows`), where the event loop may ask it
without waiting, and twice a second tells the others what it has counted since, and learns from
them: one transaction for all mails of that half second, instead of one for each. So a sender who
writes to several processes at once gets, beyond a limit, what the others take from him in half a
second. Passwords are told and learned at each look, which takes argon2's time anyhow.

On SQLite there is one door, so only play's book of passwords is kept, for the next start.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.clock import Clock
from pbmserv.log import reason
from pbmserv.service.auth.passwords import FORGIVEN
from pbmserv.service.limits.windows import Event, Kind, Windows, packed, unpacked
from pbmserv.service.time.scheduler import Rounds
from pbmserv.store.core import counted
from pbmserv.store.core.counted import Batch, Told
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer

EXCHANGE_S = 0.5
"""Seconds between two exchanges: what a limit may be overrun by is counted in these."""

MOST_WAITING = 50_000
"""Events that wait for a database; then the oldest are told to nobody."""

PRUNE_EVERY = timedelta(minutes=2)

_SPANS = (timedelta(minutes=90), timedelta(hours=30), timedelta.max)
"""Events are kept with others that count about as long."""

log = logging.getLogger("pbmserv.service")


class Book:
    """One kind of thing that is counted, and this process's part in it.

    Args:
        name: of the book, up to 16 letters.
    """

    def __init__(self, name: str, database: Database, writer: Writer, clock: Clock) -> None:
        self.windows = Windows(clock, self._tell)
        self._name = name
        self._database = database
        self._writer = writer
        self._clock = clock
        self._process = secrets.token_hex(8)
        self._seen: dict[str, int] = {}
        self._waiting: deque[Event] = deque(maxlen=MOST_WAITING)
        self._batch = Batch(self._process, 0, ())
        self._is_told = True
        self._pruned_at = clock.now()
        self._turn = threading.Lock()

    def exchange(self) -> None:
        """Tell others what was counted here, and learn what they have counted; waits for it.

        Raises:
            SQLAlchemyError: the database could not; what was counted is told next time.
        """
        with self._turn:
            self._gather()
            if self._is_told:
                with self._database.reading.connect() as connection:
                    found = self._news(connection)
            else:
                found = self._writer.submit(self._told_and_learned).result()
                self._is_told = True
            self._learn(found)

    def prune(self) -> None:
        """Forget rows that no longer count, if that was not done lately."""
        now = self._clock.now()
        if now >= self._pruned_at + PRUNE_EVERY:
            self._pruned_at = now
            prune = partial(counted.prune, book=self._name, now=now)
            self._writer.submit(prune).result()

    def _tell(self, event: Event) -> None:
        self._waiting.append(event)

    def _gather(self) -> None:
        """Make the next batch, unless the last one may not have reached the database."""
        if not self._is_told or not self._waiting:
            return
        events = [self._waiting.popleft() for _ in range(len(self._waiting))]
        self._batch = Batch(self._process, self._batch.number + 1, _parts(events))
        self._is_told = False

    def _told_and_learned(self, connection: Connection) -> list[Told]:
        counted.tell(connection, self._name, self._batch, self._clock.now())
        return self._news(connection)

    def _news(self, connection: Connection) -> list[Told]:
        return counted.news(connection, self._name, self._process, self._seen)

    def _learn(self, found: Sequence[Told]) -> None:
        self.windows.learn(event for told in found for event in unpacked(told.events))
        self._seen.update({told.process: told.number for told in found})


class Counting:
    """Exchanges what is counted, from a thread of its own: `start` and `stop`.

    Args:
        books: the ones that others share.
    """

    def __init__(self, books: Sequence[Book]) -> None:
        self._books = books
        self._is_apart = False
        self._rounds = Rounds(
            self.run_once, "counting", EXCHANGE_S, "what was counted could not be exchanged"
        )

    def start(self) -> None:
        """Begin to exchange."""
        self._rounds.start()

    def stop(self, timeout: float) -> None:
        """Tell the last, and end."""
        self._rounds.stop(timeout)
        self.run_once()

    def run_once(self) -> None:
        """Exchange now. Without the database each process counts for itself until it is back."""
        try:
            for book in self._books:
                book.exchange()
                book.prune()
        except SQLAlchemyError as error:
            if not self._is_apart:
                why = reason(error) or type(error).__name__
                log.warning("each process counts for itself until the database is back: %s", why)
            self._is_apart = True
        else:
            if self._is_apart:
                log.info("all processes count together again")
            self._is_apart = False


def _parts(events: Sequence[Event]) -> list[tuple[datetime, bytes]]:
    """Events by how long they count."""
    lots: dict[timedelta, list[Event]] = {}
    for event in events:
        lasts = timedelta(seconds=max(0.0, _counts_until(event) - event.at))
        lots.setdefault(next(span for span in _SPANS if lasts <= span), []).append(event)
    return [
        (datetime.fromtimestamp(max(map(_counts_until, lot)), UTC), packed(lot))
        for lot in lots.values()
    ]


def _counts_until(event: Event) -> float:
    """When nobody need know of it any more."""
    if event.kind is Kind.LOCK:  # its level still counts when it is open
        return max(event.at, event.until) + FORGIVEN.total_seconds()
    return event.until
