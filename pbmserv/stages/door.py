"""The way in: from an envelope to a mail that has been carried out, and the reply to say so."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import traceback
from collections.abc import Collection
from dataclasses import replace
from time import perf_counter

from pbmserv.commands.reading.mail import read, unread
from pbmserv.commands.reading.replies import read_message
from pbmserv.commands.table.model import Reading, Yes
from pbmserv.errors import MailError
from pbmserv.inbound.auth.verdict import Senders
from pbmserv.inbound.auto_mail import AWAY_SUBJECT, wire_refusal
from pbmserv.inbound.client_network import source_of
from pbmserv.inbound.dsn import read_report
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import UNCHECKED, Envelope, Mail, Verdict
from pbmserv.mail.networks import LOOPBACK, NOWHERE, Network, Source
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress
from pbmserv.service.core.context import IncomingMail
from pbmserv.service.core.mail_service import MailService, TryLater
from pbmserv.service.limits.rates import Over, TooMany, Traffic
from pbmserv.smtpd.mail_log import Outcome, note_mail

log = logging.getLogger("pbmserv.receive")

TAKEN = "250 2.0.0 taken, and carried out"
TRY_LATER = "451 4.3.0 cannot take mail just now, please try again later"
FORGED = "550 5.7.26 the domain of the From address says (DMARC) that this mail is not from it"
TOO_MANY = "451 4.7.1 too many mails from you, please try again later"
UNREADABLE = {
    "no-from": "the mail has no From address",
    "several-from": "the mail has several From headers",
    "bad-from": "the From header must hold exactly one plain address",
    "bad-header": "the headers are malformed",
    "headers-too-long": "the headers are too long",
    "too-many-parts": "the mail has too many parts",
    "too-deep": "the mail's parts are nested too deeply",
}

_FOR_PROGRAMS = frozenset((Purpose.BOARD, Purpose.TRAY, Purpose.PLAYER))
"""Reply addresses whose mails are a player's commands, and no answer to a question."""

_QUICK = 32_768
"""Octets up to which a mail is read at once; larger ones are read beside the event loop."""


class Door:
    """Reads mails and hands them to the office.

    Args:
        senders: checks who sent a mail; ``None``: nobody's From address is ever proven.
        ours: networks of our own mail servers.
    """

    def __init__(
        self,
        mail_domain: MailDomain,
        mail_service: MailService,
        traffic: Traffic,
        games: Collection[str],
        senders: Senders | None = None,
        ours: Collection[Network] = LOOPBACK,
    ) -> None:
        self._mail_domain = mail_domain
        self._mail_service = mail_service
        self._traffic = traffic
        self._games = games
        self._senders = senders
        self._ours = ours

    def is_over(self, envelope: Envelope) -> bool:
        """Whether a mail need not even be sent; *envelope* has no text yet. Counts nothing."""
        source = source_of(envelope, self._ours)
        player = self._player(envelope)
        return self._traffic.is_over(source, player, direct=envelope.is_direct)

    async def arrives(self, envelope: Envelope) -> str:
        """Count a mail, then take it or put it off; the SMTP reply comes back."""
        source = source_of(envelope, self._ours)
        player = self._player(envelope)
        begun = perf_counter()
        over = self._traffic.arrives(source, player, direct=envelope.is_direct)
        if over is None:
            return await self.take(envelope)
        if self._traffic.may_look(over):
            await self._put_off(envelope, over)
        outcome = Outcome(TOO_MANY, "put-off", f"over the limit of the {over.kind}")
        return self._noted(envelope, outcome, source, begun)

    def _player(self, envelope: Envelope) -> int:
        """Whose reply address it is for."""
        reply_address = self._mail_domain.read(envelope.recipient)
        return reply_address.player if reply_address else 0

    async def _put_off(self, envelope: Envelope, over: Over) -> None:
        """Tell the sender of a mail that is not taken why, unless it is a machine's."""
        try:
            incoming = None if wire_refusal(envelope.raw) else self.read(envelope)
            if incoming is not None and not incoming.mail.automatic:
                await self._mail_service.tell_too_many(incoming.mail.sender, over)
        except MailError:
            pass  # it would have been refused
        except Exception:
            log.exception("a mail over the limit could not be read")

    def _noted(self, envelope: Envelope, outcome: Outcome, source: Source, begun: float) -> str:
        """Log a mail and what became of it; the reply."""
        note_mail(self._mail_domain, envelope, outcome, source, (perf_counter() - begun) * 1000)
        return outcome.reply

    async def take(self, envelope: Envelope) -> str:
        """Take one mail; the SMTP reply comes back. 250 means: committed."""
        begun = perf_counter()
        outcome = await self._outcome(envelope)
        source = outcome.source or source_of(envelope, self._ours)
        return self._noted(envelope, outcome, source, begun)

    async def _outcome(self, envelope: Envelope) -> Outcome:
        try:
            return await self._take(envelope)
        except TooMany as error:
            return Outcome(TOO_MANY, "put-off", f"over the limit of the {error.over.kind}")
        except TryLater as error:
            return Outcome(TRY_LATER, "put-off", str(error))
        except Exception:
            log.exception("a mail could be neither carried out nor kept")
            return Outcome(TRY_LATER, "put-off", "our fault")

    async def _take(self, envelope: Envelope) -> Outcome:
        refusal = wire_refusal(envelope.raw)
        if refusal is not None:
            return Outcome(refusal, "refused", refusal)
        try:
            if len(envelope.raw) <= _QUICK:
                incoming = self.read(envelope)
            else:
                incoming = await asyncio.to_thread(self.read, envelope)
        except MailError as error:
            reply = f"554 5.6.0 {UNREADABLE.get(str(error), 'the mail cannot be read')}"
            return Outcome(reply, "refused", reply)
        except Exception as error:
            log.exception("a mail could not be read; it is kept for the operator")
            fault, verdict = traceback.format_exc(), await self._verdict(envelope)
            receipt = await self._mail_service.keep(envelope, "", fault, "", verdict)
            return Outcome(TAKEN, receipt.outcome, type(error).__name__, receipt)
        return await self._carry_out(envelope, incoming)

    async def _carry_out(self, envelope: Envelope, incoming: IncomingMail) -> Outcome:
        """Do with a mail that was read what is to be done with it."""
        mail, why = incoming.mail, ""
        if self._mail_domain.is_postmaster(envelope.recipient):
            verdict = await self._verdict(envelope)
            why = "for the postmaster"
            receipt = await self._mail_service.keep(envelope, mail.digest, why, "", verdict)
        elif incoming.comes_back:
            receipt = await self._mail_service.take(incoming)
        elif mail.automatic and not _robot_may_play(incoming, mail):
            why = mail.automatic
            receipt = await self._mail_service.ignore(
                replace(incoming, verdict=await self._verdict(envelope))
            )
        else:
            verdict = await self._verdict(envelope)
            if verdict.result == "forged" and incoming.reply_address is None:
                # An answer would go to somebody who has never written to us.
                return Outcome(FORGED, "refused", FORGED, source=incoming.source)
            receipt = await self._mail_service.take(replace(incoming, verdict=verdict))
        source = None if incoming.source is NOWHERE else incoming.source
        return Outcome(TAKEN, receipt.outcome, why, receipt, incoming.reading, source)

    async def _verdict(self, envelope: Envelope) -> Verdict:
        return UNCHECKED if self._senders is None else await self._senders.verdict(envelope)

    def read(self, envelope: Envelope) -> IncomingMail:
        """Read a mail.

        Raises:
            MailError: it cannot be read; the word says why.
        """
        reply_address = self._mail_domain.read(envelope.recipient)
        if reply_address is not None and reply_address.purpose is Purpose.BOUNCE:
            return self._read_returned(envelope, reply_address)
        mail = read_mail(
            envelope, host=self._mail_domain.address, is_ours=self._mail_domain.is_ours
        )
        found = read_new_text(mail.text, mail.sender if reply_address is not None else "")
        text, left_out = found.text, found.left_out or mail.left_out
        source = source_of(envelope, self._ours)
        if _is_unread(mail, reply=reply_address is not None):
            return IncomingMail(
                envelope, mail, text, unread(mail.unread), reply_address, source=source
            )
        purpose = None if reply_address is None else reply_address.purpose
        if purpose is Purpose.MESSAGE:
            reading = read_message(text, self._games)
        else:
            reading = read(
                mail.subject,
                text,
                games=self._games,
                reply=purpose is not None,
                tray=purpose is Purpose.TRAY,
            )
        return IncomingMail(
            envelope, mail, text, reading, reply_address, left_out=left_out, source=source
        )

    def _read_returned(self, envelope: Envelope, reply_address: ReplyAddress) -> IncomingMail:
        """A mail to where a letter comes back to; commands are not even looked for in it.

        A report need not have a From that anybody could answer to.
        """
        report = read_report(envelope)
        try:
            mail = read_mail(
                envelope, host=self._mail_domain.address, is_ours=self._mail_domain.is_ours
            )
        except MailError:
            mail = Mail.of_nobody("unreadable", hashlib.sha256(envelope.raw).hexdigest())
        return IncomingMail(envelope, mail, "", Reading(()), reply_address, report=report)


def _is_unread(mail: Mail, *, reply: bool) -> bool:
    """Whether what was asked for may stand where we could not read it.

    A reply without any text says yes, so one that could not be read must not look like that.
    To a mail with a picture and a command in its subject nothing is missing.
    """
    return bool(mail.unread) and (reply or mail.unread != "no-text")


def _robot_may_play(incoming: IncomingMail, mail: Mail) -> bool:
    """Whether a mail that must not be answered may still be a player's.

    A player's own program may answer a letter to that player although it says Auto-Submitted,
    and anybody may write a command below a subject like that of a note, or in it.
    """
    if not mail.only_auto_submitted and mail.automatic != AWAY_SUBJECT:
        return False
    lines = incoming.reading.lines
    if incoming.reply_address is None:
        proves = bool(lines) and all(line.who is not None for line in lines)
        return proves and mail.automatic == AWAY_SUBJECT
    if incoming.reply_address.purpose is Purpose.UNSUBSCRIBE:  # written by programs, and empty
        return mail.only_auto_submitted
    # Only with words of its own: an empty answer of a machine is not the yes that a person's is.
    is_yes = any(isinstance(line.asked, Yes) for line in lines)
    return incoming.reply_address.purpose in _FOR_PROGRAMS and not is_yes
