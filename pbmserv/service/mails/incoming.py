"""Reads incoming mails: the reply address, the new text, and the commands in it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_message, read_new_mail, refuse_unread
from pbmserv.commands.table.command_types import Credentials, ReplyMove, Yes
from pbmserv.errors import MailError
from pbmserv.inbound.attached import attached_text
from pbmserv.inbound.dsn import reported_failures
from pbmserv.inbound.mail_reports import MailReport, read_mail_report
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.inbound.robots import AWAY_SUBJECT
from pbmserv.inbound.source import source_of
from pbmserv.mail import reading_time
from pbmserv.mail.bounce_codes import Failure
from pbmserv.mail.envelope import UNCHECKED, Envelope, Mail, Source, Verdict
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.networks import Network
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.mail.reply_address import ENDINGS, OF_TALK, Purpose, ReplyAddress
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.submission import Request, Submission

log = logging.getLogger("pbmserv.receive")

_FOR_COMMANDS: Mapping[Purpose, Answered] = {
    Purpose.BOARD: Answered.PLAIN_LETTER,
    Purpose.TRAY: Answered.DIGEST,
    Purpose.PLAYER: Answered.PLAIN_LETTER,
}
"""Purposes of reply addresses to which players, and their programs, write commands; the letters of
all others ask something."""

MAIL_REPORT = "mail-report"
"""The reason why a report of another mail server is not answered."""


@dataclass(frozen=True, slots=True)
class IncomingMail:
    """A mail that has been read.

    Attributes:
        request: its commands, and who gives them.
        failures: deliveries that it reports as failed, if it came to the envelope sender of one.
        comes_back: it came to the envelope sender of a letter, which speaks for nobody.
        mail_report: what it says about all our mail, if it is a report of another mail server.
    """

    envelope: Envelope
    mail: Mail
    request: Request
    failures: tuple[Failure, ...] = ()
    comes_back: bool = False
    mail_report: MailReport | None = None

    @property
    def reading(self) -> Reading:
        """The commands."""
        return self.request.submission.reading

    @property
    def reply_address(self) -> ReplyAddress | None:
        """The reply address that it came to."""
        return self.request.actor.reply_address

    @property
    def verdict(self) -> Verdict:
        """Whether the From address is proven."""
        return self.request.actor.verdict

    @property
    def source(self) -> Source:
        """The origin, by which mails and wrong passwords are counted."""
        return self.request.actor.source

    def with_verdict(self, verdict: Verdict) -> IncomingMail:
        """Return the mail with another verdict on its From address."""
        actor = replace(self.request.actor, verdict=verdict)
        return replace(self, request=replace(self.request, actor=actor))

    def with_passwords(self, passwords: frozenset[Credentials]) -> IncomingMail:
        """Return the mail with the passwords that its commands may use."""
        return replace(self, request=self.request.with_passwords(passwords))


class MailParser:
    """Makes read mails of envelopes.

    Args:
        games: titles of the games by key.
        ours: networks of our own mail servers.
    """

    def __init__(
        self, mail_domain: MailDomain, games: GameTitles, ours: Collection[Network]
    ) -> None:
        self.mail_domain = mail_domain
        self._games = games
        self._ours = ours

    def parse(self, envelope: Envelope, verdict: Verdict = UNCHECKED) -> IncomingMail:
        """Read a mail. A mail that takes too long becomes one line that is refused.

        Args:
            verdict: on its From address.

        Raises:
            MailError: it cannot be read; the word says why.
        """
        try:
            with reading_time.limited(reading_time.LONGEST_S):
                return self._read(envelope, verdict)
        except ReadingTooLong:
            log.warning("a mail takes too long to read", extra={"octets": len(envelope.raw)})
            return self._read_head(envelope, verdict)

    def _read_head(self, envelope: Envelope, verdict: Verdict) -> IncomingMail:
        """Read the header of a mail whose text takes too long to read."""
        reply_address = self.mail_domain.read(envelope.recipient)
        if _comes_back(reply_address):
            return self._returned(envelope, _unreadable(envelope), reply_address)
        head = envelope.raw.partition(b"\r\n\r\n")[0]
        mail = self._mail(replace(envelope, raw=head + b"\r\n\r\n"))
        digest = mail.digest if mail.message_id else _digest_of(envelope)
        mail = replace(mail, unread="too-long", digest=digest)
        submission = _submission(envelope, mail, "", refuse_unread(mail.unread))
        actor = self._actor(envelope, mail, reply_address, verdict)
        return IncomingMail(envelope, mail, Request(actor, submission))

    def _read(self, envelope: Envelope, verdict: Verdict) -> IncomingMail:
        reply_address = self.mail_domain.read(envelope.recipient)
        if _comes_back(reply_address):
            return self._read_returned(envelope, reply_address)
        mail = self._mail(envelope)
        if reply_address is None:
            envelope, reply_address = self._addressed(envelope, mail)
        new = read_new_text(mail.text, mail.sender if reply_address is not None else "")
        # A reply without any text says yes, so one that could not be read must not look like that;
        # to a mail with a picture and a command in its subject nothing is missing.
        if mail.unread and (reply_address is not None or mail.unread != "no-text"):
            reading, left_out = refuse_unread(mail.unread), False
        else:
            purpose = None if reply_address is None else reply_address.purpose
            by_hand = not mail.automatic
            reading = reading_of(mail.subject, new.text, self._games, purpose, by_hand=by_hand)
            left_out = new.left_out or mail.left_out
        submission = _submission(envelope, mail, new.text, reading, left_out=left_out)
        mail_report = None
        is_postmasters = self.mail_domain.is_postmaster(envelope.recipient)
        if reply_address is None and (mail.automatic or is_postmasters):
            mail_report = read_mail_report(envelope.raw)
        request = Request(self._actor(envelope, mail, reply_address, verdict), submission)
        return IncomingMail(envelope, mail, request, mail_report=mail_report)

    def _actor(
        self,
        envelope: Envelope,
        mail: Mail,
        reply_address: ReplyAddress | None,
        verdict: Verdict = UNCHECKED,
    ) -> Actor:
        return Actor(mail.sender, verdict, reply_address, self.source_of(envelope))

    def _addressed(self, envelope: Envelope, mail: Mail) -> tuple[Envelope, ReplyAddress | None]:
        """Return the envelope and the reply address with which to read a mail to the plain address.

        A "reply to all" goes to the reply address of a letter and to the plain address. Both
        copies are read as mails to the reply address, so whichever comes second is a copy of a
        known mail.
        """
        if not self.mail_domain.is_ours(envelope.recipient) or self.mail_domain.is_postmaster(
            envelope.recipient
        ):
            return envelope, None
        for recipient in mail.recipients:
            reply_address = self.mail_domain.read(recipient)
            if reply_address is not None and not _comes_back(reply_address):
                return replace(envelope, recipient=recipient), reply_address
        return envelope, None

    def source_of(self, envelope: Envelope) -> Source:
        """Return the origin of a mail."""
        return source_of(envelope, self._ours)

    def _mail(self, envelope: Envelope) -> Mail:
        return read_mail(envelope, self.mail_domain)

    def _read_returned(
        self, envelope: Envelope, reply_address: ReplyAddress | None
    ) -> IncomingMail:
        """Read a mail to the envelope sender of a letter.

        A report need not have a From address that could be answered.
        """
        failures = reported_failures(envelope)
        try:
            mail = self._mail(envelope)
        except MailError:
            mail = _unreadable(envelope)
        return self._returned(envelope, mail, reply_address, failures)

    def _returned(
        self,
        envelope: Envelope,
        mail: Mail,
        reply_address: ReplyAddress | None,
        failures: tuple[Failure, ...] = (),
    ) -> IncomingMail:
        """Return a mail to the envelope sender of a letter, which brings no commands."""
        request = Request(
            self._actor(envelope, mail, reply_address),
            _submission(envelope, mail, "", Reading(())),
        )
        return IncomingMail(envelope, mail, request, failures, comes_back=True)


def _comes_back(reply_address: ReplyAddress | None) -> bool:
    """Return whether an address is the envelope sender of a letter."""
    return reply_address is not None and reply_address.purpose is Purpose.BOUNCE


def _unreadable(envelope: Envelope) -> Mail:
    """Return a mail without a sender, which cannot be answered."""
    return Mail("", "", "", "", "unreadable", only_headers=False, digest=_digest_of(envelope))


def _digest_of(envelope: Envelope) -> str:
    return hashlib.sha256(envelope.raw).hexdigest()


def _submission(
    envelope: Envelope, mail: Mail, text: str, reading: Reading, *, left_out: bool = False
) -> Submission:
    return Submission(
        reading,
        text,
        subject=mail.subject,
        whole_text=mail.text,
        id=mail.message_id,
        is_mail=True,
        answered=mail.answers,
        left_out=left_out,
        is_unread=bool(mail.unread),
        may_be_answered=not mail.automatic,
        can_wait=len(reading.lines) == 1
        or all(isinstance(line.meaning, ReplyMove) for line in reading.lines),
        attachment=cache(partial(attached_text, envelope.raw)),
    )


def reading_of(
    subject: str,
    text: str,
    games: GameTitles,
    purpose: Purpose | None,
    *,
    by_hand: bool = True,
) -> Reading:
    """Return the commands of a text.

    Args:
        subject: ignored in a reply, whose address tells the player and the board.
        purpose: of the reply address that it came to, if any.
        by_hand: a person wrote it, and not a program such as one that answers during holidays.
    """
    if purpose is None:
        return read_new_mail(subject, text, games)
    if purpose in OF_TALK:
        return read_message(text, games)
    answered = _FOR_COMMANDS.get(purpose, Answered.QUESTION)
    return read_reply_to(answered, text, games, by_hand=by_hand)


def is_set_aside(incoming: IncomingMail) -> bool:
    """Return whether a machine's mail is neither carried out nor answered.

    Letters that come back are carried out.
    """
    return not (incoming.comes_back or _robot_may_play(incoming))


def _robot_may_play(incoming: IncomingMail) -> bool:
    """Return whether a mail that must not be answered may still be a player's.

    Exchange, mailing lists and newsletter software mark people's mails like a machine's, a player
    may use a program of their own, and a person may write a subject like an out-of-office note's.
    """
    mail = incoming.mail
    if not mail.only_headers and mail.automatic != AWAY_SUBJECT:
        return False
    lines, reply_address = incoming.reading.lines, incoming.reply_address
    if reply_address is None:
        return bool(lines) and all(line.credentials is not None for line in lines)
    purpose = reply_address.purpose
    if purpose in ENDINGS:  # written by programs, and empty
        return True
    is_marked = mail.only_headers and not mail.away
    answers = [line.meaning for line in lines if isinstance(line.meaning, Yes)]
    if answers:  # an empty answer of a machine is not the yes that a person's is
        return is_marked and not any(answer.is_empty for answer in answers)
    if purpose in _FOR_COMMANDS:
        return True
    # Words for another player: two programs must not talk to each other through the server.
    return is_marked and mail.automatic not in {"auto-submitted", "precedence"}
