"""The queue of letters for one sender: claims rows, makes the letters, settles them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime

from pbmserv.errors import MustWait, ServerFault, StoreAway
from pbmserv.letters.compose import Composer
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.monitoring.vitals import Watch
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.outbox_writer import OutboxWriter
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.results import Result
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.delivery import letter_claims
from pbmserv.store.delivery.letter_claims import ClaimedLetter
from pbmserv.views.shown_boards import ShownBoards


class Outbox:
    """The queue of letters for one sender: claims, makes and settles them.

    Args:
        by: name of this sender, unique for its lifetime.
        database: for reading.
        writer: changes the outbox.
        composer: makes letters from the record; others may use it, too.
        signer: adds DKIM signatures.
        watch: tells the supervisor which letter is being made.
    """

    def __init__(
        self,
        by: str,
        database: Database,
        writer: OutboxWriter,
        composer: Composer,
        signer: Signer,
        watch: Watch,
    ) -> None:
        self._by = by
        self._database = database
        self._writer = writer
        self.composer = composer
        self._signer = signer
        self._watch = watch

    def claim(self, most: int) -> list[ClaimedLetter]:
        """Claim due letters, see `OutboxWriter.claim`."""
        return self._writer.claim(self._by, most)

    def release_lost(self, in_hand: Collection[int]) -> None:
        """Make letters due again that are claimed and not in hand."""
        self._writer.release_lost(self._by, in_hand)

    def settle(self, results: Sequence[Result]) -> None:
        """Store the results of claimed letters, see `OutboxWriter.settle`."""
        self._writer.settle(results)

    def renew(self, ids: Sequence[int]) -> None:
        """Extend the leases of letters in hand."""
        self._writer.renew(ids)

    def make(self, rows: Sequence[ClaimedLetter]) -> list[OutgoingLetter]:
        """Return the claimed letters, made from the record and ready to be sent.

        Raises:
            MustWait: one of them must wait for a later attempt.
            ServerFault: one of them can never be made.
            StoreAway: the database cannot be reached.
        """
        raws: dict[int, bytes] = {}
        kills = self._watch.killed_over()
        try:
            with self._database.snapshot() as connection:
                boards = ShownBoards(connection, self.composer.positions)
                for row in rows:
                    raws[row.id] = self._rendered(boards, row, kills.get(row.id, 0))
            self.composer.positions.remember(boards.replayed)
        except UNAVAILABLE as error:
            raise StoreAway(type(error).__name__) from error
        return [self._outgoing(row, raws[row.id]) for row in rows]

    def _rendered(self, boards: ShownBoards, row: ClaimedLetter, kills: int) -> bytes:
        if kills:
            _refuse_deadly(row, kills)
        with self._watch.doing(row.id):
            raw = self.composer.bytes_of(boards, row)
            return self._signer.signed(raw) if self._signer.keys else raw

    def _outgoing(self, row: ClaimedLetter, raw: bytes) -> OutgoingLetter:
        # Each letter has its own bounce address, so nobody can forge a report about it or take it
        # for a report about another letter. Mails to it are never answered (RFC 3834, 3.3).
        bounce = ReplyAddress(Purpose.BOUNCE, about=row.id)
        sender = self.composer.mail_domain.address_of(bounce)
        return OutgoingLetter(row.id, row.message_id, sender, row.recipient, raw)

    def game_of(self, row: ClaimedLetter) -> str:
        """Return the key of the game of a letter's board, ``""`` if it cannot be found.

        This is for the log, after the letter could not be made, perhaps because its board cannot
        be read. So no error may get out of here.
        """
        if row.board_id is not None:
            with suppress(Exception), self._database.snapshot() as connection:
                return ShownBoards(connection, self.composer.positions).board(row.board_id).game
        return ""

    def next_due(self) -> datetime | None:
        """Return when the next letter is due or its lease ends, `None` if the queue is empty."""
        with self._database.snapshot() as connection:
            return letter_claims.next_due(connection)


def _refuse_deadly(row: ClaimedLetter, kills: int) -> None:
    """Refuse a letter during whose making the sender was killed.

    Raises:
        MustWait: it was killed once, and the letter has not waited since.
        ServerFault: it was killed again.
    """
    if kills > 1:
        raise ServerFault(f"making it was stopped {kills} times")
    if kills > row.attempts:
        raise MustWait("making it was stopped")
