"""Drops texts of mails and words of letters when they have been kept long enough.

The words and the address of a letter are kept until no report about it counts (`bounces.TOO_LATE`):
until then it may be sent again, and is made again from them and the record.

The text of a mail is kept for its days if a proven player asked for something and it was done.
Other texts are not kept, or as long as the operator wishes. When the quota (`limits.text_quota`) is
used up, texts of mails that led to nothing go first. Kept mails, and carried-out mails within their
days, are never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table

from pbmserv.clock import Clock
from pbmserv.service.accounts import new_addresses
from pbmserv.service.boards.unconfirmed_boards import ANSWERED_DAYS
from pbmserv.service.delivery import digest
from pbmserv.service.delivery.bounces import TOO_LATE
from pbmserv.service.limits.text_quota import UNUSED, Quota
from pbmserv.store.accounts import lockouts
from pbmserv.store.core.database import Database
from pbmserv.store.core.statements import older, remove
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import inbox, old_letters
from pbmserv.store.delivery.old_letters import OldLetter
from pbmserv.store.tables.accounts import address_changes, invitations, signups
from pbmserv.store.tables.boards import unconfirmed_boards
from pbmserv.store.tables.mail import MailState

T = TypeVar("T")

BATCH = 50
"""Rows in a transaction; mail that arrives meanwhile waits for some milliseconds."""

ROWS_UNPROVEN = timedelta(days=7)
"""Time for which rows of unproven mails that led to nothing are kept. Mail servers repeat mails
within five days (RFC 5321 section 4.5.4.1)."""

ROWS_PROVEN = timedelta(days=90)
"""Time for proven mails that led to nothing. Rows of mails with effects are kept for good."""

BOARDS_KEPT = timedelta(days=ANSWERED_DAYS)
"""Time for which a board waits for the yes that begins it."""

INVITATIONS_KEPT = timedelta(days=365)
"""Time for which the link in an invitation that ends all invitations works."""

UNCONFIRMED_KEPT = timedelta(days=new_addresses.UNCONFIRMED_DAYS)
"""Time for which signups and changes of address wait for their confirmation."""

NO_TIME = timedelta(0)

WORDS_KEPT = TOO_LATE + timedelta(days=1)
"""Time for which the words and the address of a sent letter are kept."""


@dataclass(frozen=True, slots=True)
class KeepTimes:
    """Times for which texts are kept.

    Attributes:
        mails: for texts of mails with effects.
        unused: for texts of mails that led to nothing.
    """

    mails: timedelta
    unused: timedelta

    @classmethod
    def of_days(cls, *, mails: int, unused: int) -> KeepTimes:
        """Return the times of the settings."""
        return cls(timedelta(days=mails), timedelta(days=unused))


class Expiry:
    """Drops expired texts and rows, a few at a time."""

    def __init__(
        self, database: Database, writer: Writer, clock: Clock, kept: KeepTimes, quota: Quota
    ) -> None:
        self._database = database
        self._writer = writer
        self._clock = clock
        self._kept = kept
        self._quota = quota

    def step(self) -> int:
        """Drop some expired rows; return their number, 0 if none are left."""
        kept = self._kept
        return (
            self._drop_texts(MailState.DONE, kept.mails)
            or self._drop_texts(MailState.ANSWERED, kept.unused)
            or self._drop_texts(MailState.IGNORED, kept.unused)
            or self._delete_unused_rows()
            or self._forget_wrong_passwords()
            or self._drop_rows(unconfirmed_boards, BOARDS_KEPT)
            or self._drop_rows(invitations, INVITATIONS_KEPT)
            or self._drop_rows(signups, UNCONFIRMED_KEPT, unless=signups.c.player_id)
            or self._drop_rows(
                address_changes, UNCONFIRMED_KEPT, unless=address_changes.c.confirmed_at
            )
            or self._drop(old_letters.with_words, _shrink, WORDS_KEPT)
        )

    def make_room(self) -> int:
        """Drop some texts of mails that led to nothing if the quota is nearly used up; return their
        number."""
        self._quota.measure(self._clock.now())
        self._quota.log_changes()
        if self._quota.excess <= 0:
            return 0
        return next(filter(None, (self._drop_texts(state, NO_TIME) for state in UNUSED)), 0)

    def _drop_texts(self, state: str, kept: timedelta) -> int:
        """Drop some texts of mails in *state* that are older than *kept*; return their number."""
        before = _earlier(self._clock.now(), kept)
        with self._database.reading.connect() as connection:
            rows = inbox.with_text(connection, state, before, BATCH)
        if rows:
            numbers = [number for number, _ in rows]
            self._writer.submit(lambda c: inbox.erase_texts(c, numbers)).result()
            self._quota.count_dropped(state, sum(octets for _, octets in rows))
        return len(rows)

    def _delete_unused_rows(self) -> int:
        """Drop some rows of mails that led to nothing; return their number."""
        now = self._clock.now()
        job = partial(
            inbox.prune, unproven=now - ROWS_UNPROVEN, before=now - ROWS_PROVEN, most=BATCH
        )
        return self._writer.submit(job).result()

    def _forget_wrong_passwords(self) -> int:
        """Remove counts and locks that no longer matter; return how many there were."""
        return self._writer.submit(partial(lockouts.prune, now=self._clock.now())).result()

    def _drop_rows(
        self, table: Table, kept: timedelta, unless: ColumnElement[Any] | None = None
    ) -> int:
        """Delete some rows of *table* that are older than *kept*; return their number.

        Args:
            unless: see `older`.
        """
        find = partial(older, table=table, unless=unless)
        return self._drop(find, partial(remove, table=table), kept)

    def _drop(
        self,
        find: Callable[[Connection, datetime, int], Sequence[T]],
        drop: Callable[[Connection, Sequence[T]], None],
        kept: timedelta,
    ) -> int:
        """Drop some of the rows that *find* returns, older than *kept*; return their number."""
        before = _earlier(self._clock.now(), kept)
        with self._database.reading.connect() as connection:
            rows = find(connection, before, BATCH)
        if rows:
            self._writer.submit(lambda c: drop(c, rows)).result()
        return len(rows)


def _shrink(connection: Connection, letters: Sequence[OldLetter]) -> None:
    """Reduce old letters to the words that later replies may need."""
    kept_words = {
        letter.id: digest.words_for_replies(letter)
        for letter in letters
        if old_letters.leaves_row(letter)
    }
    removed = [letter.id for letter in letters if letter.id not in kept_words]
    if kept_words:
        old_letters.strip(connection, kept_words)
    if removed:
        old_letters.remove(connection, removed)


def _earlier(now: datetime, by: timedelta) -> datetime:
    """Return the moment before *now* by that time, at the earliest the first moment."""
    try:
        return now - by
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
