"""What is kept for some time only, and in so much room: texts of mails, letters, their words.

A letter's words and address are kept until no report about it can count any more
(`bounces.TOO_LATE`): so long it may be sent again, and is made anew from them and the record.

A mail's text is kept for its days if a player has proved to ask for something and it was done; of
everything else nothing is kept, or only as long as the operator wishes. When the quota is used up:

- Texts of mails that led to nothing go first, the oldest first, whatever their days.
- Mails are carried out all the same, only their text is not kept: it is there to look things up.
- Mails for the postmaster, whom anybody may write to, are put off (451) from half of the quota on,
  small ones from three quarters on.
- A mail that our own code failed on is kept above the quota: it had its 250, and a person must see
  it.

What is kept for the operator, and what was carried out within its days, is never dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, Table

from pbmserv.clock import Clock
from pbmserv.service.accounts import account
from pbmserv.service.boards.proposals import ANSWERED_DAYS
from pbmserv.service.delivery import digest
from pbmserv.service.delivery.bounces import TOO_LATE
from pbmserv.service.limits.text_quota import UNUSED, Quota
from pbmserv.store.accounts import lockouts, players
from pbmserv.store.core.database import Database
from pbmserv.store.core.statements import older, remove
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import inbox, kept_letters
from pbmserv.store.delivery.kept_letters import OldLetter
from pbmserv.store.tables.accounts import address_changes, invitations, signups
from pbmserv.store.tables.boards import unconfirmed_boards
from pbmserv.store.tables.mail import MailState

log = logging.getLogger("pbmserv.service")


T = TypeVar("T")

BATCH = 50
"""Rows in a transaction: mail that comes meanwhile waits for some milliseconds."""

ROWS_UNPROVEN = timedelta(days=7)
"""How long it stays known that a mail came that led to nothing and that nobody proved to have
written. Mail servers repeat what they sent within five days (RFC 5321 section 4.5.4.1)."""

ROWS_PROVEN = timedelta(days=90)
"""The same where somebody proved it. What had an effect is known for good."""

BOARDS_KEPT = timedelta(days=ANSWERED_DAYS)
"""How long a board waits for the yes without which it does not begin."""

INVITATIONS_KEPT = timedelta(days=365)
"""How long the link in an invitation works that ends all of them."""

UNCONFIRMED_KEPT = timedelta(days=account.UNCONFIRMED_DAYS)
"""How long a signup and a change of address wait for their confirmation."""

NO_TIME = timedelta(0)

WORDS_KEPT = TOO_LATE + timedelta(days=1)
"""How long at least the words and the address of a letter are kept after it was sent."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How long things are kept.

    Attributes:
        mails: the text of a mail, after it came and was carried out.
        unused: the text of a mail that led to nothing, after it came.
        letters: a letter as it was mailed, after it was sent.
    """

    mails: timedelta
    unused: timedelta
    letters: timedelta

    @classmethod
    def of_days(cls, *, mails: int, unused: int, letters: int) -> Kept:
        """As settings have it."""
        return cls(timedelta(days=mails), timedelta(days=unused), timedelta(days=letters))


class Expiry:
    """Drops what was kept long enough, a few rows at a time."""

    def __init__(
        self, database: Database, writer: Writer, clock: Clock, kept: Kept, quota: Quota
    ) -> None:
        self._database = database
        self._writer = writer
        self._clock = clock
        self._kept = kept
        self._quota = quota

    def step(self) -> int:
        """Drop some of what is over; how many rows there were, 0 = nothing is left to be done."""
        kept = self._kept
        return (
            self._empty(MailState.DONE, kept.mails)
            or self._empty(MailState.ANSWERED, kept.unused)
            or self._empty(MailState.IGNORED, kept.unused)
            or self._prune()
            or self._forget_wrong_passwords()
            or self._drop_rows(unconfirmed_boards, BOARDS_KEPT)
            or self._drop_rows(invitations, INVITATIONS_KEPT)
            or self._drop(players.late_signups, partial(remove, table=signups), UNCONFIRMED_KEPT)
            or self._drop(
                players.late_changes, partial(remove, table=address_changes), UNCONFIRMED_KEPT
            )
            or self._drop(kept_letters.mailed, kept_letters.forget_bytes, kept.letters)
            or self._drop(kept_letters.old, _shrink, max(kept.letters, WORDS_KEPT))
        )

    def makes_room(self) -> int:
        """Empty some mails that led to nothing, whatever their days, if texts take nearly all that
        they may; how many there were."""
        self._quota.measure(self._clock.now())
        self._quota.tell()
        if self._quota.excess <= 0:
            return 0
        return next(filter(None, (self._empty(state, NO_TIME) for state in UNUSED)), 0)

    def _empty(self, state: str, kept: timedelta) -> int:
        """Drop the texts of some mails of that state; how many there were."""
        before = _earlier(self._clock.now(), kept)
        with self._database.reading.connect() as connection:
            found = inbox.with_text(connection, state, before, BATCH)
        if found:
            numbers = [number for number, _ in found]
            self._writer.submit(lambda c: inbox.forget(c, numbers)).result()
            self._quota.frees(state, sum(octets for _, octets in found))
        return len(found)

    def _prune(self) -> int:
        """Drop some rows of mails that led to nothing; how many there were."""
        now = self._clock.now()
        job = partial(
            inbox.prune, unproven=now - ROWS_UNPROVEN, before=now - ROWS_PROVEN, most=BATCH
        )
        return self._writer.submit(job).result()

    def _forget_wrong_passwords(self) -> int:
        """Remove counts and locks that no longer matter; return how many there were."""
        return self._writer.submit(partial(lockouts.prune, now=self._clock.now())).result()

    def _drop_rows(self, table: Table, kept: timedelta) -> int:
        return self._drop(partial(older, table=table), partial(remove, table=table), kept)

    def _drop(
        self,
        find: Callable[[Connection, datetime, int], Sequence[T]],
        drop: Callable[[Connection, Sequence[T]], None],
        kept: timedelta,
    ) -> int:
        before = _earlier(self._clock.now(), kept)
        with self._database.reading.connect() as connection:
            found = find(connection, before, BATCH)
        if found:
            self._writer.submit(lambda c: drop(c, found)).result()
        return len(found)


def _shrink(connection: Connection, letters: Sequence[OldLetter]) -> None:
    """Keep no more of letters than is of use for good."""
    stay = {
        letter.id: digest.answerable(letter) for letter in letters if kept_letters.stays(letter)
    }
    go = [letter.id for letter in letters if letter.id not in stay]
    if stay:
        kept_letters.bare(connection, stay)
    if go:
        kept_letters.remove(connection, go)


def _earlier(now: datetime, by: timedelta) -> datetime:
    """The moment so long ago, or the first there is."""
    try:
        return now - by
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
