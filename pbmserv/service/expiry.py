"""What is kept for some time only: texts of mails, letters as they were mailed, their words.

A letter's words and address are kept until no report about it can count any more
(`bounces.TOO_LATE`): so long it may be sent again, and is made anew from them and the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.service import tray
from pbmserv.service.bounces import TOO_LATE
from pbmserv.store import expiry, inbox
from pbmserv.store.expiry import OldLetter
from pbmserv.store.session import Database
from pbmserv.store.writer import Writer

T = TypeVar("T")

BATCH = 50
"""Rows in a transaction: mail that comes meanwhile waits for some milliseconds."""

WORDS_KEPT = TOO_LATE + timedelta(days=1)
"""How long at least the words and the address of a letter are kept after it was sent."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How long things are kept.

    Attributes:
        mails: the text of a mail, after it came and was carried out.
        letters: a letter as it was mailed, after it was sent.
    """

    mails: timedelta
    letters: timedelta


class Expiry:
    """Drops what was kept long enough, a few rows at a time."""

    def __init__(self, database: Database, writer: Writer, clock: Clock, kept: Kept) -> None:
        self._database = database
        self._writer = writer
        self._clock = clock
        self._kept = kept

    def step(self) -> int:
        """Drop some of what is over; how many rows there were, 0 = nothing is left to be done."""
        kept = self._kept
        return (
            self._drop(inbox.with_text, inbox.forget, kept.mails)
            or self._drop(expiry.mailed, expiry.forget_bytes, kept.letters)
            or self._drop(expiry.old, _shrink, max(kept.letters, WORDS_KEPT))
        )

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
    stay = {letter.id: tray.answerable(letter) for letter in letters if expiry.stays(letter)}
    go = [letter.id for letter in letters if letter.id not in stay]
    if stay:
        expiry.bare(connection, stay)
    if go:
        expiry.remove(connection, go)


def _earlier(now: datetime, by: timedelta) -> datetime:
    """The moment so long ago, or the first there is."""
    try:
        return now - by
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
