"""Changes the outbox for a sender: claims letters, and stores the results of attempts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.outbound.results import Failed, Later, Result, Sent, Untried
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import letter_claims
from pbmserv.store.delivery.letter_claims import Claim, ClaimedLetter
from pbmserv.store.delivery.shares import UNDIVIDED

LEASE = timedelta(minutes=5)
"""Time for which a letter stays claimed if its sender does not renew the lease."""
HEAVY = 25
"""Effort above which a letter, or all letters to one reader, let others go first."""


def _others_first(rows: Sequence[ClaimedLetter]) -> list[ClaimedLetter]:
    """Order letters by the mails that caused them, and last those to readers who asked for much.

    Of a mail the letters to opponents come before those to its sender. They are neighbours, so that
    the board that they show is read and replayed once. The letters to one reader keep their order.
    """
    answered = {(row.created_at, row.recipient) for row in rows if row.in_reply_to}
    efforts = Counter[str]()
    for row in rows:
        efforts[row.recipient] += row.effort

    def rank(row: ClaimedLetter) -> tuple[int, datetime, bool]:
        effort = efforts[row.recipient]
        is_answered = (row.created_at, row.recipient) in answered
        return effort if effort > HEAVY else 0, row.created_at, is_answered

    return sorted(rows, key=rank)


class OutboxWriter(Protocol):
    """Changes the outbox: through a writer of this process, or on SQLite through play's.

    Each method commits.
    """

    def claim(self, by: str, claim: Claim) -> list[ClaimedLetter]:
        """Lease due letters to a sender, in the order in which they should be made.

        A letter whose lease ends before it is renewed or settled becomes due again.

        Args:
            by: name of the sending process, unique for its lifetime.
        """
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

    def claim(self, by: str, claim: Claim) -> list[ClaimedLetter]:
        now = self._clock.now()
        rows = list[ClaimedLetter]()
        for share in random.sample(self._shares, len(self._shares)):
            if claim.most > len(rows):
                job = partial(
                    letter_claims.claim,
                    claim=replace(claim, most=claim.most - len(rows)),
                    by=by,
                    now=now,
                    until=now + LEASE,
                    share=share,
                )
                rows += self._writer.submit(job).result()
        return _others_first(rows)

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
            letter_claims.release(connection, untried)
        if failed:
            letter_claims.mark_failed(connection, [(r.id, r.error) for r in failed])
        for result in failed:
            refusal = result.error if result.was_made else None
            self._handle_failure(connection, result.id, refusal, now)
