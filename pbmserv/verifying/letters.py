"""Reads letters about boards, and the records in them, from the octets of mails.

Anybody may have written these mails, so nothing here trusts them, and everything has limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parseaddr, parsedate_to_datetime

from pbmserv.engine.chance import mail_mark
from pbmserv.engine.proof import TINY_DIGITS
from pbmserv.engine.record import FIRST_LINE
from pbmserv.errors import MailError
from pbmserv.inbound.attached import attached_text
from pbmserv.inbound.body import read_body
from pbmserv.inbound.headers import Headers, first, read_headers, readable_value, split_block
from pbmserv.inbound.message import message_id
from pbmserv.mail import reading_time
from pbmserv.verifying.mailboxes import TooLong

MOST_LETTERS = 20_000
MOST_RECORDS = 1_000
MOST_FIELDS = 20
_MOST_MARKS = 1_000_000
_SUBJECT = 60
_SENDER = 200

_HASH = "([0-9a-f]{64})"
_FIELD = re.compile(
    r"board=([0-9]{1,9})(?:; seat=([0-9]))?; turns=([0-9]{1,6}); "
    rf"pledge={_HASH}; record={_HASH}(?:; move={_HASH})?"
)
_SHORT_FIELD = re.compile(
    r"board=([0-9]{1,9})(?:; seat=([0-9]))?; turns=([0-9]{1,6}); "
    rf"record=([0-9a-f]{{{TINY_DIGITS}}})"
)
_SEARCH = re.compile(rf"search; pledge={_HASH}")
_SIGNER = re.compile(r"(?:^|;)\s*d\s*=\s*([A-Za-z0-9.-]{1,253})\s*(?:;|$)")
_IDENTITY = re.compile(r"<[!-;=?-~]{3,900}>")


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hashes of one board in one letter; see `letters.proof.BoardProof`.

    A tiny letter has only the start of the record hash: `pledge` and `move` are ``b""``.
    """

    board: int
    seat: int | None
    turns: int
    pledge: bytes
    record: bytes
    move: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter about boards.

    Attributes:
        sender: the address of the From field. The names of senders differ, in tiny letters too.
        subject: the subject in one line.
        date: the Date field; `None` if it cannot be read.
        kind: the kind of letter, by its Feedback-ID.
        text: the plain text.
        hashes: one for each board.
        searches: the pledges of seeds for boards whose players are not found yet.
        is_signed: whether it has a DKIM signature of its From domain; nothing here checks it.
    """

    sender: str
    subject: str
    date: datetime | None
    kind: str
    text: str = field(repr=False)
    hashes: tuple[Hashes, ...] = ()
    searches: frozenset[bytes] = frozenset()
    is_signed: bool = False


@dataclass(slots=True)
class Mailbox:
    """The letters, records and marks found in some mails.

    Attributes:
        mails: number of mails.
        skipped: mails that are too long or too many.
        letters: letters with hashes, as the keys of a dictionary, so that a copy counts once.
        records: texts of records, each with the letter that it came with, if any.
        marks: marks of all mails, such as those that a player has sent.
        answered: marks of the mails to which letters are answers.
    """

    mails: int = 0
    skipped: int = 0
    letters: dict[Letter, None] = field(default_factory=dict)
    records: list[tuple[str, Letter | None]] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    def add_all(self, mails: Iterable[bytes | TooLong]) -> None:
        """Add mails, and files that are a record instead of a mail."""
        for mail in mails:
            reading_time.check()
            self.mails += 1
            if isinstance(mail, TooLong) or len(self.letters) >= MOST_LETTERS:
                self.skipped += 1
            else:
                self._add(mail)

    def _add(self, raw: bytes) -> None:
        try:
            block, body = split_block(raw)
            headers = read_headers(block)
        except MailError:  # no mail, but perhaps a record
            self._add_record(raw.decode("utf-8", "replace"), None)
            return
        identity = message_id(headers)
        if identity and len(self.marks) < _MOST_MARKS:
            self.marks.add(mail_mark(identity))
        fields = [
            " ".join(value.split()) for value in headers.get("pbmserv-record", ())[:MOST_FIELDS]
        ]
        hashes = tuple(_hashes(fields))
        searches = frozenset(
            bytes.fromhex(match[1]) for match in map(_SEARCH.fullmatch, fields) if match is not None
        )
        if not (hashes or searches) and FIRST_LINE.encode() not in raw:
            return
        text = ""
        with suppress(MailError):
            text = read_body(headers, body).text
        letter = Letter(
            parseaddr(readable_value(first(headers, "from"))[:_SENDER])[1].lower(),
            readable_value(first(headers, "subject"))[:_SUBJECT],
            _date(first(headers, "date")),
            first(headers, "feedback-id").partition(":")[0],
            text,
            hashes,
            searches,
            _is_signed(headers),
        )
        if hashes or searches:
            self.letters[letter] = None
            answered = _IDENTITY.findall(first(headers, "in-reply-to")[:1_000])
            self.answered.update(map(mail_mark, answered[:1]))
        self._add_record(attached_text(raw, FIRST_LINE), letter)
        self._add_record(text, letter)

    def _add_record(self, text: str, letter: Letter | None) -> None:
        if FIRST_LINE in text and len(self.records) < MOST_RECORDS:
            self.records.append((text, letter))


def _hashes(fields: Iterable[str]) -> list[Hashes]:
    """Return the hashes in the fields of a letter, whose other fields are left out."""
    hashes = []
    for field_text in fields:
        full = _FIELD.fullmatch(field_text)
        short = _SHORT_FIELD.fullmatch(field_text)
        if full is not None:
            board, seat, turns, *digits = full.groups()
        elif short is not None:
            board, seat, turns, record_start = short.groups()
            digits = ["", record_start, ""]
        else:
            continue
        pledge, record, move = (bytes.fromhex(hash_digits or "") for hash_digits in digits)
        seat_number = None if seat is None else int(seat)
        hashes.append(Hashes(int(board), seat_number, int(turns), pledge, record, move))
    return hashes


def _is_signed(headers: Headers) -> bool:
    """Return whether a signature names the domain of the From field, or one above it."""
    domain = first(headers, "from").rpartition("@")[2].strip(" >\t").lower()
    for value in headers.get("dkim-signature", ())[:MOST_FIELDS]:
        match = _SIGNER.search(value[:2_000])
        if match is not None and f".{domain}".endswith(f".{match[1].lower()}"):
            return True
    return False


def _date(value: str) -> datetime | None:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        moment = parsedate_to_datetime(value[:100])
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return None
