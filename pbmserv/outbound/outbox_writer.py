"""Changes the outbox for a sender: claims letters, and stores the results of attempts."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.outbound.results import Failed, Later, Result, Sent, Untried
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import letter_claims
from pbmserv.store.delivery.letter_claims import ClaimedLetter
from pbmserv.store.delivery.shares import UNDIVIDED

LEASE = timedelta(minutes=5)
"""Time for which a letter stays claimed if its sender does not renew the lease."""


class OutboxWriter(Protocol):
    """Changes the outbox: through a writer of this process, or on SQLite through play's.

    Each method commits.
    """

    def claim(self, by: str, most: int) -> list[ClaimedLetter]:
        """Lease due letters to a sender, in the order in which they should be made.

        A letter whose lease ends before it is renewed or settled becomes due again.

        Args:
            by: name of the sending process, unique for its lifetime.
            most: largest number of letters.
        """
        ...

    def release_lost(self, by: str, in_hand: Collection[int]) -> None:
        """Make letters due again that are leased to a sender and not *in_hand*."""
        ...

    def renew(self, ids: Sequence[int]) -> None:
        """Extend the leases of letters; settled ones stay as they are."""
        ...

    def settle(self, results: Sequence[Result]) -> None:
        """Store the results of claimed letters; an unknown id is no error."""
        ...


class DirectOutboxWriter:
    """Changes the outbox in this process, through the writer of its database.

    Args:
        writer: of the game store.
        clock: decides which letters are due.
        handle_failure: runs in the transaction that settles a failed letter; gets the letter's
            number, the relay's refusal (`None`: the letter could not be made) and the time.
        shares: shares of the queue that are claimed one by one.
    """

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        handle_failure: Callable[[Connection, int, str | None, datetime], None],
        shares: Sequence[int | None] = UNDIVIDED,
    ) -> None:
        self._shares = shares
        self._writer = writer
        self._clock = clock
        self._handle_failure = handle_failure

    def claim(self, by: str, most: int) -> list[ClaimedLetter]:
        now = self._clock.now()
        rows = list[ClaimedLetter]()
        for share in random.sample(self._shares, len(self._shares)):
            if most > len(rows):
                job = partial(
                    letter_claims.claim,
                    most=most - len(rows),
                    by=by,
                    now=now,
                    until=now + LEASE,
                    share=share,
                )
                rows += self._writer.submit(job).result()
        return rows

    def release_lost(self, by: str, in_hand: Collection[int]) -> None:
        now = self._clock.now()
        for share in self._shares:
            job = partial(letter_claims.release_lost, by=by, in_hand=in_hand, now=now, share=share)
            self._writer.submit(job).result()

    def renew(self, ids: Sequence[int]) -> None:
        until = self._clock.now() + LEASE
        self._writer.submit(partial(letter_claims.renew, ids=ids, until=until)).result()

    def settle(self, results: Sequence[Result]) -> None:
        self._writer.submit(partial(self._settle, results, self._clock.now())).result()

    def _settle(self, results: Sequence[Result], now: datetime, connection: Connection) -> None:
        sent = [result.id for result in results if isinstance(result, Sent)]
        later = [(r.id, r.at, r.error) for r in results if isinstance(r, Later)]
        untried = [(r.id, r.at, r.why) for r in results if isinstance(r, Untried)]
        failed = [result for result in results if isinstance(result, Failed)]
        if sent:
            letter_claims.mark_sent(connection, sent, now)
        if later:
            letter_claims.retry_later(connection, later)
        if untried:
            letter_claims.put_off(connection, untried)
        if failed:
            letter_claims.mark_failed(connection, [(r.id, r.error) for r in failed])
        for result in failed:
            refusal = result.error if result.was_made else None
            self._handle_failure(connection, result.id, refusal, now)
