"""The outbox in the database, as the sender needs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.letters.compose import Composer
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.outbox import ClaimedLetter, Failed, Later, Result, Sent, Untried
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import kept_letters, outbox
from pbmserv.store.delivery.outbox import QueuedLetter

LEASE = timedelta(minutes=5)
"""How long a claimed letter is one worker's own if that does not renew it: it has died."""


class DatabaseOutbox:
    """Claims, renders and settles rows of the outbox; every change goes through the writer.

    Args:
        refused: takes note, in the transaction that settles it, of a letter that failed: its
            number, the fault, and the time.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        composer: Composer,
        signer: Signer,
        clock: Clock,
        refused: Callable[[Connection, int, str, datetime], None],
    ) -> None:
        self._database = database
        self._writer = writer
        self._composer = composer
        self._signer = signer
        self._clock = clock
        self._refused = refused
        self._claimed: dict[int, QueuedLetter] = {}

    def reclaim(self) -> None:
        """At the start of the only process: what an earlier one had claimed is due again."""
        self._writer.submit(partial(outbox.reclaim, now=self._clock.now())).result()

    def claim(self, limit: int, avoiding: Collection[str] = ()) -> Sequence[ClaimedLetter]:
        """Take due letters; see the port."""
        now = self._clock.now()
        rows = self._writer.submit_unsynced(
            partial(outbox.claim, now=now, until=now + LEASE, most=limit, avoiding=sorted(avoiding))
        ).result()
        for row in rows:
            if row.raw is None:
                self._claimed[row.id] = row
        return [
            ClaimedLetter(
                row.id,
                row.attempts,
                row.created_at,
                None if row.raw is None else self._outgoing(row, row.raw),
                row.letter,
                row.mail_id,
                row.board_id,
                row.ply,
            )
            for row in rows
        ]

    def prepare(self, ids: Sequence[int]) -> Sequence[OutgoingLetter]:
        """Render claimed letters and keep the bytes; see the port."""
        made: dict[int, bytes] = {}
        with self._database.reading.connect() as connection:
            for letter_id in ids:
                raw = self._composer.bytes_of(connection, self._claimed[letter_id])
                made[letter_id] = self._signer.signed(raw)
        packed, now = kept_letters.packed(made), self._clock.now()
        self._writer.submit_unsynced(
            partial(kept_letters.keep_bytes, made=packed, now=now)
        ).result()
        return [self._outgoing(self._claimed.pop(i), raw) for i, raw in made.items()]

    def renew(self, ids: Sequence[int]) -> None:
        """See the port."""
        until = self._clock.now() + LEASE
        self._writer.submit_unsynced(partial(outbox.renew, ids=ids, until=until)).result()

    def settle(self, results: Sequence[Result]) -> None:
        """Write down what became of letters; see the port."""
        for result in results:
            self._claimed.pop(result.id, None)
        self._writer.submit(partial(self._settle, results)).result()

    def next_due(self, avoiding: Collection[str] = ()) -> datetime | None:
        """When the next letter is due; see the port."""
        with self._database.reading.connect() as connection:
            return outbox.next_due(connection, sorted(avoiding))

    def _settle(self, results: Sequence[Result], connection: Connection) -> None:
        sent = [result.id for result in results if isinstance(result, Sent)]
        later = [(r.id, r.at, r.error) for r in results if isinstance(r, Later)]
        untried = [(r.id, r.at, r.why) for r in results if isinstance(r, Untried)]
        failed = [(r.id, r.error) for r in results if isinstance(r, Failed)]
        if sent:
            outbox.sent(connection, sent, self._clock.now())
        if later:
            outbox.later(connection, later)
        if untried:
            outbox.release(connection, untried)
        if failed:
            outbox.failed(connection, failed)
        for letter_id, error in failed:
            self._refused(connection, letter_id, error, self._clock.now())

    def _outgoing(self, row: QueuedLetter, raw: bytes) -> OutgoingLetter:
        # Where it comes back to: an address of this letter alone, so that a report about it can
        # neither be made up nor be taken for another's. It is never answered (RFC 3834, 3.3).
        sender = self._composer.mail_domain.address_of(ReplyAddress(Purpose.BOUNCE, about=row.id))
        return OutgoingLetter(row.id, row.message_id, sender, row.recipient, raw)
