"""The queue of letters: claims rows for a sender, makes the letters, stores the results."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import ServerFault, SetAside, StoreAway
from pbmserv.letters.compose import Composer
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.monitoring import metrics
from pbmserv.monitoring.vitals import Watch
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.logged_replies import loggable_reply
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE, Writer
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.columns import pack
from pbmserv.views.reader import BoardReader


@dataclass(frozen=True, slots=True)
class Sent:
    """The next hop has accepted the letter."""

    id: int


@dataclass(frozen=True, slots=True)
class Later:
    """The letter was tried in vain and is due again at *at*."""

    id: int
    at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The letter will not be tried again."""

    id: int
    error: str


@dataclass(frozen=True, slots=True)
class Untried:
    """The letter was not tried and is due again at *at*; this counts as no attempt.

    Attributes:
        why: a reason for the operator; ``""`` leaves the previous one.
    """

    id: int
    at: datetime
    why: str = ""


Result = Sent | Later | Failed | Untried


_log = logging.getLogger("pbmserv.send")


def log_letter(
    row: QueuedLetter,
    domain: str,
    outcome: Literal["sent", "waits", "refused"],
    error: str,
    wait: timedelta | None = None,
) -> None:
    """Log and count the result of an attempt.

    Args:
        domain: the recipient's domain; ``""`` if the letter could not be made.
        error: the relay's reply or our own error. Of a reply only the code is logged, since mail
            servers quote addresses.
        wait: time until the next attempt.
    """
    metrics.LETTERS.labels(outcome).inc()
    if not _log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {"letter": row.id, "outcome": outcome}
    origin = {"kind": row.letter, "mail": row.mail_id, "board": row.board_id, "ply": row.ply}
    facts |= {key: value for key, value in origin.items() if value not in {None, ""}}
    if domain:
        facts["domain"] = domain
    facts["attempts"] = row.attempts + 1
    if error:
        facts["why"] = loggable_reply(error)
    if wait is not None:
        facts["wait_s"] = round(wait.total_seconds())
    _log.info("letter", extra=facts)


LEASE = timedelta(minutes=5)
"""How long a letter stays claimed if its sender does not renew the lease."""


HEAVY = 25
"""Effort above which a letter, or all letters to one reader, let others go first."""


def _others_first(rows: Sequence[QueuedLetter]) -> list[QueuedLetter]:
    """Order letters: first those to opponents, then answers to the senders of mails, last those to
    readers who asked for much. The letters to one reader keep their order.
    """
    answered = {row.recipient for row in rows if row.in_reply_to}
    efforts = Counter[str]()
    for row in rows:
        efforts[row.recipient] += row.effort

    def rank(row: QueuedLetter) -> tuple[int, bool]:
        effort = efforts[row.recipient]
        return effort if effort > HEAVY else 0, row.recipient in answered

    return sorted(rows, key=rank)


class OutboxRows(Protocol):
    """Changes the outbox: through a writer of this process, or on SQLite through play's.

    Each method commits.
    """

    def claim(
        self,
        by: str,
        most: int,
        in_hand: Collection[int] = (),
        avoiding: Collection[str] = (),
        since: datetime | None = None,
    ) -> list[QueuedLetter]:
        """Lease up to *most* due letters to *by*, in the order in which they should be made.

        A letter whose lease ends before it is renewed or settled becomes due again.

        Args:
            by: name of the sending process, unique for its lifetime.
            most: largest number of letters.
            in_hand: letters that *by* has in hand. Others claimed in its name become due again:
                a dead predecessor had them, or the answer to an earlier claim was lost.
            avoiding: recipient domains (lower case) whose letters are skipped.
            since: skip letters that were due earlier; all of them are to these domains.
        """
        ...

    def keep(self, packed: Mapping[int, bytes]) -> None:
        """Store the packed octets of letters that were made."""
        ...

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        """Extend the leases of letters; settled ones stay as they are."""
        ...

    def settle(self, results: Sequence[Result]) -> None:
        """Store the results of claimed letters; an unknown id is no error."""
        ...


class WrittenRows:
    """Changes the outbox through the writer.

    Args:
        writer: of the game store.
        clock: decides which letters are due.
        refused: records a failed letter in the transaction that settles it; gets the letter's
            number, the error and the time.
    """

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        refused: Callable[[Connection, int, str, datetime], None],
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._refused = refused

    def claim(
        self,
        by: str,
        most: int,
        in_hand: Collection[int] = (),
        avoiding: Collection[str] = (),
        since: datetime | None = None,
    ) -> list[QueuedLetter]:
        now = self._clock.now()
        job = partial(
            outbox.claim,
            by=by,
            in_hand=in_hand,
            now=now,
            until=now + LEASE,
            most=most,
            avoiding=sorted(avoiding),
            since=since,
        )
        return _others_first(self._writer.submit(job).result())

    def keep(self, packed: Mapping[int, bytes]) -> None:
        job = partial(outbox.keep_bytes, packed=packed, now=self._clock.now())
        self._writer.submit(job).result()

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        self._writer.submit(partial(outbox.renew, ids=ids, until=until)).result()

    def settle(self, results: Sequence[Result]) -> None:
        self._writer.submit(partial(self._settle, results, self._clock.now())).result()

    def _settle(self, results: Sequence[Result], now: datetime, connection: Connection) -> None:
        sent = [result.id for result in results if isinstance(result, Sent)]
        later = [(r.id, r.at, r.error) for r in results if isinstance(r, Later)]
        untried = [(r.id, r.at, r.why) for r in results if isinstance(r, Untried)]
        failed = [(r.id, r.error) for r in results if isinstance(r, Failed)]
        if sent:
            outbox.sent(connection, sent, now)
        if later:
            outbox.later(connection, later)
        if untried:
            outbox.release(connection, untried)
        if failed:
            outbox.failed(connection, failed)
        for letter_id, error in failed:
            self._refused(connection, letter_id, error, now)


class Outbox:
    """The queue of letters for one sender: claims, makes and settles them.

    Args:
        by: name of this sender, unique for its lifetime.
        database: for reading.
        rows: changes the outbox.
        composer: makes letters from the record.
        signer: adds DKIM signatures.
        clock: decides which letters are due.
        watch: tells the supervisor which letter is being made.
    """

    def __init__(
        self,
        by: str,
        database: Database,
        rows: OutboxRows,
        composer: Composer,
        signer: Signer,
        clock: Clock,
        watch: Watch,
    ) -> None:
        self._by = by
        self._database = database
        self._rows = rows
        self._composer = composer
        self._signer = signer
        self._clock = clock
        self._watch = watch

    def claim(
        self,
        most: int,
        in_hand: Collection[int] = (),
        avoiding: Collection[str] = (),
        since: datetime | None = None,
    ) -> list[QueuedLetter]:
        """Claim due letters, see `OutboxRows.claim`."""
        return self._rows.claim(self._by, most, in_hand, avoiding, since)

    def settle(self, results: Sequence[Result]) -> None:
        """Store the results of claimed letters, see `OutboxRows.settle`."""
        self._rows.settle(results)

    def renew(self, ids: Sequence[int]) -> None:
        """Extend the leases of letters in hand."""
        self._rows.renew(ids, self._clock.now() + LEASE)

    def make(self, rows: Sequence[QueuedLetter]) -> list[OutgoingLetter]:
        """Return the claimed letters, ready to be sent.

        Letters that no earlier attempt has made are rendered from the record, and their octets are
        stored first, so that every attempt sends the same.

        Raises:
            SetAside: one of them must wait for a later attempt.
            ServerFault: one of them can never be made.
            StoreAway: the database cannot be reached.
        """
        raws: dict[int, bytes] = {}
        try:
            with self._database.one_state() as connection:
                looking = BoardReader(connection, self._composer.positions)
                for row in rows:
                    raws[row.id] = row.raw or self._rendered(looking, row)
            packed = {row.id: pack(raws[row.id]) for row in rows if row.raw is None}
            if packed:
                self._rows.keep(packed)
        except UNAVAILABLE as error:
            raise StoreAway(type(error).__name__) from error
        return [self._outgoing(row, raws[row.id]) for row in rows]

    def _rendered(self, looking: BoardReader, row: QueuedLetter) -> bytes:
        kills = self._watch.killed_over().get(row.id, 0)
        if kills:
            _refuse_deadly(row, kills)
        self._watch.at(row.id)
        try:
            raw = self._composer.bytes_of(looking, row)
            return self._signer.signed(raw) if self._signer.keys else raw
        finally:
            self._watch.at(0)

    def _outgoing(self, row: QueuedLetter, raw: bytes) -> OutgoingLetter:
        # Each letter has its own bounce address, so nobody can forge a report about it or take it
        # for a report about another letter. Mails to it are never answered (RFC 3834, 3.3).
        bounce = ReplyAddress(Purpose.BOUNCE, about=row.id)
        sender = self._composer.mail_domain.address_of(bounce)
        return OutgoingLetter(row.id, row.message_id, sender, row.recipient, raw)

    def game_of(self, row: QueuedLetter) -> str:
        """Return the key of the game of a letter's board, ``""`` if there is none."""
        if row.board_id is not None:
            with suppress(ServerFault, *UNAVAILABLE), self._database.one_state() as connection:
                return BoardReader(connection, self._composer.positions).board(row.board_id).game
        return ""

    def next_due(self, avoiding: Collection[str] = ()) -> datetime | None:
        """Return when the next letter is due or its lease ends, `None` if the queue is empty."""
        with self._database.one_state() as connection:
            return outbox.next_due(connection, sorted(avoiding))


def _refuse_deadly(row: QueuedLetter, kills: int) -> None:
    """Refuse a letter during whose making the sender was killed.

    Raises:
        SetAside: it was killed once, and the letter has not waited since.
        ServerFault: it was killed again.
    """
    if kills > 1:
        raise ServerFault(f"making it was stopped {kills} times")
    if kills > row.attempts:
        raise SetAside("making it was stopped")
