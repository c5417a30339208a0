"""What is done about one mail, each as a job inside the transaction that also says it is done."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.mail.envelope import UNCHECKED, Envelope, Source, Verdict
from pbmserv.mail.networks import block_name
from pbmserv.mail.reply_address import speaker_of
from pbmserv.service.accounts import absences
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.budget import Budget, Work
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.executor import carry_out
from pbmserv.service.core.results import NOTHING, Done, Part, Receipt, message_id, told_letter
from pbmserv.service.delivery import bounces
from pbmserv.service.delivery.incoming import IncomingMail
from pbmserv.service.limits import answer_limits
from pbmserv.service.limits.rates import Over
from pbmserv.service.time.retention import Quota
from pbmserv.store.delivery import inbox, outbox
from pbmserv.store.delivery.outbox import NewLetter
from pbmserv.store.tables.mail import MailState

LONGEST_FAULT = 20_000
"""Characters of a traceback that are kept, from its end."""


class MailService:
    """The jobs. Each takes the moment at which the mail was received as its present.

    Args:
        quota: what mails' texts may take.
    """

    def __init__(self, services: Services, quota: Quota) -> None:
        self._services = services
        self._quota = quota
        self.positions = services.positions

    def carry_out(self, incoming: IncomingMail, now: datetime, connection: Connection) -> Done:
        """Carry a mail out that was read, and whose passwords were looked at.

        Raises:
            TooMany: its player has sent too much.
            Outdated: a password has changed meanwhile.
        """
        envelope = incoming.envelope
        mail_id = inbox.add(
            connection,
            digest=incoming.mail.digest,
            recipient=envelope.recipient.lower(),  # copies may come in different letter case
            sender=envelope.sender,
            peer=envelope.peer,
            raw=envelope.raw,
            state="done",
            player_id=incoming.reply_address.player or None if incoming.reply_address else None,
            verdict=incoming.verdict,
            now=now,
        )
        if mail_id is None:  # this very mail has been here: no second effect, no answer
            return _copy(connection, incoming.mail.digest, envelope.recipient)
        return self._carried_out(incoming, mail_id, now, connection)

    def carry_out_kept(
        self, incoming: IncomingMail, mail_id: int, now: datetime, connection: Connection
    ) -> Done:
        """The same of a mail that was kept or put off; `NOTHING` when it is so no longer."""
        if inbox.lock(connection, mail_id, MailState.KEPT, MailState.LATER) is None:
            return NOTHING
        if not inbox.told_by(connection, mail_id, incoming.mail.digest):
            inbox.mark(connection, mail_id, "ignored", "a copy of another mail that came")
            return NOTHING
        inbox.mark(connection, mail_id, "done")
        return self._carried_out(incoming, mail_id, now, connection)

    def set_aside(self, incoming: IncomingMail, now: datetime, connection: Connection) -> Done:
        """Note a mail that must not be answered; a note of somebody away leads to a question."""
        mail = incoming.mail
        row = _Row(incoming.envelope, mail.digest, "ignored", mail.automatic, incoming.verdict)
        mail_id = row.add(connection, now)
        if mail_id is None:
            return _copy(connection, mail.digest, incoming.envelope.recipient)
        if not self._quota.takes("ignored", len(incoming.envelope.raw)):
            inbox.drop_text(connection, mail_id)
        context = CommandContext(self._services, connection, incoming, mail_id, now)
        letters = _question(context)
        if letters:
            outbox.add(connection, letters, now, mail_id)
        receipt = Receipt(mail_id, "ignored", letters=len(letters))
        return Done({}, len(letters), receipt=receipt)

    def keep(self, mail: ToKeep, now: datetime, connection: Connection) -> Done:
        """Keep a mail for the operator, and tell its writer (if any) that a person will look."""
        digest = mail.digest or hashlib.sha256(mail.envelope.raw).hexdigest()
        row = _Row(mail.envelope, digest, "kept", _storable(mail.error), mail.verdict)
        mail_id = row.add(connection, now)
        if mail_id is None:
            return _copy(connection, row.digest, row.envelope.recipient)
        self._quota.keeps(len(mail.envelope.raw))
        if not mail.answer_to or self._hears_enough(mail):
            return Done({}, 0, receipt=Receipt(mail_id, "kept"))
        part = Part("kept", {"number": mail_id})
        letter = NewLetter(
            letter=part.letter,
            recipient=mail.answer_to,
            words=part.words,
            message_id=message_id(self._services.mail_domain, part),
        )
        outbox.add(connection, [letter], now, mail_id)
        return Done({}, 1, receipt=Receipt(mail_id, "kept", letters=1))

    def _hears_enough(self, mail: ToKeep) -> bool:
        """Whether the address that a kept mail names had letters of this kind today: anybody can
        write it into a mail that we fail on."""
        envelope = mail.envelope
        source = Source(block_name(envelope.peer), envelope.sender.lower())
        return bool(self._services.traffic.asks([mail.answer_to.lower()], source))

    def put_off(
        self, incoming: IncomingMail, over: Over, now: datetime, connection: Connection
    ) -> Done:
        """Have a mail wait until its player may send more, and tell the player."""
        mail, octets = incoming.mail, len(incoming.envelope.raw)
        waits = self._quota.takes(MailState.LATER, octets)
        state = MailState.LATER if waits else MailState.IGNORED
        why = f"over the limit of the {over.kind}"
        row = _Row(incoming.envelope, mail.digest, state, why, incoming.verdict)
        mail_id = row.add(connection, now)
        if mail_id is None:
            return _copy(connection, mail.digest, incoming.envelope.recipient)
        if not waits:
            inbox.drop_text(connection, mail_id)
        told = NOTHING
        if not mail.automatic:
            told = self.tell_too_many(mail.sender, over, now, connection, waits=waits)
        return Done({}, told.letters, receipt=Receipt(mail_id, "put-off", letters=told.letters))

    def keep_put_off(self, mail_id: int, fault: str, connection: Connection) -> None:
        """Keep a mail that was put off for the operator: our own code failed on it."""
        if inbox.lock(connection, mail_id, MailState.LATER) is not None:
            inbox.mark(connection, mail_id, MailState.KEPT, _storable(fault))

    def tell_too_many(
        self,
        sender: str,
        over: Over,
        now: datetime,
        connection: Connection,
        *,
        waits: bool | None = None,
    ) -> Done:
        """Explain, once a day, why mails are not taken (or wait here, or do not)."""
        letter = answer_limits.over_limit_letter(
            self._services, connection, sender, over, now, waits=waits
        )
        if letter is None:
            return NOTHING
        outbox.add(connection, [letter], now)
        return Done({}, 1)

    def _carried_out(
        self, incoming: IncomingMail, mail_id: int, now: datetime, connection: Connection
    ) -> Done:
        """Carry it out, queue its letters, and keep its text if that is worth it."""
        context = CommandContext(
            self._services, connection, incoming, mail_id, now, budget=Budget()
        )
        octets = len(incoming.envelope.raw)
        context.budget.charge(Work.OCTETS, octets // 1024)
        if incoming.comes_back:
            letters = bounces.receive(context)
        else:
            letters = carry_out(context) or _question(context)
            if context.carried_out:
                keeps = self._quota.takes("done", octets)
            elif context.led_on:  # anybody can have written it
                keeps = False
            else:
                inbox.mark(connection, mail_id, "answered")
                keeps = self._quota.takes("answered", octets)
            if not keeps:
                inbox.drop_text(connection, mail_id)
        if context.bot_turns or context.reported:
            bot_moves.queue(context, letters)
        elif letters:
            outbox.add(connection, letters, now, mail_id)
        receipt = Receipt(
            mail_id,
            "taken",
            speaker_of(incoming.reply_address) or min(context.counted, default=0),
            tuple(context.tally.plies),
            context.tally.done,
            context.tally.refused,
            len(letters),
        )
        return Done(
            context.played, len(letters), bool(context.bot_turns or context.reported), receipt
        )


@dataclass(frozen=True, slots=True)
class ToKeep:
    """A mail that a person must see.

    Attributes:
        digest: ``Mail.digest``; ``""`` for a mail that could not be read.
        error: why it is kept.
        answer_to: who is told so; ``""`` for nobody.
    """

    envelope: Envelope
    digest: str
    error: str
    answer_to: str = ""
    verdict: Verdict = UNCHECKED

    @classmethod
    def of_fault(cls, envelope: Envelope, incoming: IncomingMail | None, fault: str) -> ToKeep:
        """One on which our own code failed. *fault*: the traceback."""
        if incoming is None:
            return cls(envelope, "", fault)
        answer_to = "" if incoming.mail.automatic else incoming.mail.sender
        return cls(envelope, incoming.mail.digest, fault, answer_to, incoming.verdict)


@dataclass(frozen=True, slots=True)
class _Row:
    """A mail that is not carried out."""

    envelope: Envelope
    digest: str
    state: str
    error: str
    verdict: Verdict

    def add(self, connection: Connection, now: datetime) -> int | None:
        """Its number in the inbox; ``None`` when it has been here before."""
        return inbox.add(
            connection,
            digest=self.digest,
            recipient=self.envelope.recipient.lower(),
            sender=self.envelope.sender,
            peer=self.envelope.peer,
            raw=self.envelope.raw,
            state=self.state,
            error=self.error,
            verdict=self.verdict,
            now=now,
        )


def _copy(connection: Connection, digest: str, recipient: str) -> Done:
    """What is said of a mail that has been here before."""
    number = inbox.number_of(connection, digest, recipient.lower())
    return Done({}, 0, receipt=Receipt(number or 0, "copy"))


def _question(context: CommandContext) -> list[NewLetter]:
    """The letter to a player who seems to be away."""
    return [
        told_letter(context, told) for told in absences.ask_if_away(context, context.incoming.mail)
    ]


def _storable(error: str) -> str:
    """The text of a fault without what a database cannot keep: it may quote any mail."""
    plain = error.encode("utf-8", "backslashreplace").decode("utf-8")
    return plain.replace("\0", "\\x00")[-LONGEST_FAULT:]
