"""The office: takes read mails, has them carried out durably, and answers when that is done.

Also what the web pages and the operator ask for. The only asynchronous part of the service.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pbmserv.clock import Clock
from pbmserv.errors import ServerFault
from pbmserv.log import reason
from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict
from pbmserv.service.accounts import absences
from pbmserv.service.auth.password_checks import PasswordChecks
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.awaiting import Awaiting
from pbmserv.service.core.budget import Budget, Work
from pbmserv.service.core.context import CommandContext, IncomingMail, Services
from pbmserv.service.core.executor import carry_out
from pbmserv.service.core.results import NOTHING, Done, Part, Receipt, message_id, told_letter
from pbmserv.service.delivery import bounces
from pbmserv.service.limits import answer_limits
from pbmserv.service.limits.rates import Over, TooMany
from pbmserv.service.time.retention import Quota
from pbmserv.store.core.writer import Closed, Writer
from pbmserv.store.delivery import inbox, outbox
from pbmserv.store.delivery.outbox import NewLetter

UNAVAILABLE = (OperationalError, InterfaceError, PoolTimeout)
"""The database cannot work now. Any other error it reports is a fault in our statements."""

log = logging.getLogger("pbmserv.service")

MOST_CHANGES = 5
"""Times that a mail's passwords are looked at once more, since one was changed meanwhile."""

LONGEST_FAULT = 20_000
"""Characters of a traceback that are kept, from its end."""


class TryLater(ServerFault):
    """The database could not take the mail; nothing of it was done (SMTP: 451)."""


class MailService:
    """One server's office.

    Args:
        vetting: looks at passwords before the writer needs to know; closed with the office.
        wake: called after a commit that queued letters.
        ask_bots: called after a commit that made it the house's turn.
        quota: what mails' texts may take.
    """

    def __init__(
        self,
        services: Services,
        password_checks: PasswordChecks,
        writer: Writer,
        clock: Clock,
        wake: Callable[[], None],
        ask_bots: Callable[[], None],
        quota: Quota,
    ) -> None:
        self._services = services
        self._password_checks = password_checks
        self._writer = writer
        self._clock = clock
        self._wake = wake
        self._ask_bots = ask_bots
        self._quota = quota
        self._awaiting: Awaiting | None = None
        self._letters_wait = False

    def close(self) -> None:
        """Wait for hashing that is under way."""
        self._password_checks.close()

    # -- mail ---------------------------------------------------------------------------

    async def take(self, incoming: IncomingMail) -> Receipt:
        """Carry out a mail; returns once that is committed, with what became of it.

        If our own code fails, the mail is kept for the operator and its sender is told.

        Raises:
            TryLater: the database could not take it.
            TooMany: its player has sent too much.
        """
        try:
            return _receipt(await self._carried_out(incoming, None))
        except TryLater:
            raise
        except TooMany as error:
            if not incoming.mail.automatic:
                await self.tell_too_many(incoming.mail.sender, error.over)
            raise
        except Exception:
            log.exception("a mail could not be carried out; it is kept for the operator")
            answer_to = "" if incoming.mail.automatic else incoming.mail.sender
            fault = traceback.format_exc()
            return await self.keep(
                incoming.envelope, incoming.mail.digest, fault, answer_to, incoming.verdict
            )

    async def retry(self, mail_id: int, incoming: IncomingMail) -> bool:
        """Carry out a kept mail once more; False when it is no longer kept.

        Raises:
            Exception: whatever failed; the mail is still kept.
        """
        return await self._carried_out(incoming, mail_id) is not NOTHING

    async def ignore(self, incoming: IncomingMail) -> Receipt:
        """Keep a mail that must not be answered; a note of somebody away leads to a question."""
        return _receipt(await self.commit(partial(self._set_aside, incoming)))

    async def keep(
        self,
        envelope: Envelope,
        digest: str,
        error: str,
        answer_to: str,
        verdict: Verdict = UNCHECKED,
    ) -> Receipt:
        """Keep a mail for the operator; tell *answer_to* (if any) that a person will look.

        Args:
            digest: ``Mail.digest``; ``""`` for a mail that could not be read.

        Raises:
            TryLater: the database could not take it, or there is no room for it.
        """
        for_postmaster = self._services.mail_domain.is_postmaster(envelope.recipient)
        if not self._quota.takes_kept(len(envelope.raw), for_postmaster=for_postmaster):
            raise TryLater("there is no room for one more mail that the operator must see")
        digest = digest or hashlib.sha256(envelope.raw).hexdigest()
        row = _Row(envelope, digest, "kept", _storable(error), verdict)
        return _receipt(await self.commit(partial(self._file, row, answer_to)))

    async def tell_too_many(self, sender: str, over: Over) -> None:
        """Explain, once a day, why mails are not taken."""
        await self.commit(partial(self._too_many, sender, over))

    # -- jobs: run by the writer, inside its transaction ---------------------------------

    def _carry_out(
        self, incoming: IncomingMail, mail_id: int | None, connection: Connection
    ) -> Done:
        now = self._clock.now()
        envelope = incoming.envelope
        if mail_id is None:
            mail_id = inbox.add(
                connection,
                digest=incoming.mail.digest,
                recipient=_key(envelope.recipient),
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
        elif inbox.lock_kept(connection, mail_id) is None:
            return NOTHING
        elif not inbox.told_by(connection, mail_id, incoming.mail.digest):
            inbox.mark(connection, mail_id, "ignored", "a copy of another mail that came")
            return NOTHING
        else:
            inbox.mark(connection, mail_id, "done")
        context = CommandContext(
            self._services, connection, incoming, mail_id, now, budget=Budget()
        )
        context.budget.charge(Work.OCTETS, len(envelope.raw) // 1024)
        if incoming.comes_back:
            letters = bounces.receive(context)
        else:
            letters = carry_out(context) or _question(context)
            self._shelve(context, mail_id)
        if context.bot_turns:
            bot_moves.queue(context, letters)
        elif letters:
            outbox.add(connection, letters, now, mail_id)
        speaks = incoming.reply_address.player if incoming.reply_address else 0
        receipt = Receipt(
            mail_id,
            "taken",
            speaks or min(context.counted, default=0),
            tuple(context.tally.plies),
            context.tally.done,
            context.tally.refused,
            len(letters),
        )
        return Done(context.played, len(letters), bool(context.bot_turns), receipt)

    def _shelve(self, context: CommandContext, mail_id: int) -> None:
        """Note what a mail led to, and keep its text only if that is worth it and there is room."""
        octets = len(context.incoming.envelope.raw)
        if context.carried_out:
            keeps = self._quota.takes("done", octets)
        elif context.led_on:  # anybody can have written it
            keeps = False
        else:
            inbox.mark(context.connection, mail_id, "answered")
            keeps = self._quota.takes("answered", octets)
        if not keeps:
            inbox.drop_text(context.connection, mail_id)

    def _set_aside(self, incoming: IncomingMail, connection: Connection) -> Done:
        now = self._clock.now()
        mail = incoming.mail
        row = _Row(incoming.envelope, mail.digest, "ignored", mail.automatic, incoming.verdict)
        mail_id = row.add(connection, now)
        if mail_id is None:
            return _copy(connection, mail.digest, incoming.envelope.recipient)
        if not self._quota.takes("ignored", len(incoming.envelope.raw)):
            inbox.drop_text(connection, mail_id)
        letters = _question(CommandContext(self._services, connection, incoming, mail_id, now))
        if letters:
            outbox.add(connection, letters, now, mail_id)
        receipt = Receipt(mail_id, "ignored", letters=len(letters))
        return Done({}, len(letters), receipt=receipt)

    def _file(self, row: _Row, answer_to: str, connection: Connection) -> Done:
        now = self._clock.now()
        mail_id = row.add(connection, now)
        if mail_id is None:
            return _copy(connection, row.digest, row.envelope.recipient)
        if not answer_to:
            return Done({}, 0, receipt=Receipt(mail_id, "kept"))
        part = Part("kept", {"number": mail_id})
        letter = NewLetter(
            letter=part.letter,
            recipient=answer_to,
            words=part.words,
            message_id=message_id(self._services.mail_domain.domain, part),
        )
        outbox.add(connection, [letter], now, mail_id)
        return Done({}, 1, receipt=Receipt(mail_id, "kept", letters=1))

    def _too_many(self, sender: str, over: Over, connection: Connection) -> Done:
        letter = answer_limits.over_limit_letter(
            self._services, connection, sender, over, self._clock.now()
        )
        if letter is None:
            return NOTHING
        outbox.add(connection, [letter], self._clock.now())
        return Done({}, 1)

    # -- inside --------------------------------------------------------------------------

    async def commit(self, job: Callable[[Connection], Done]) -> Done:
        """Run *job* in the writer; returns once it is committed.

        Raises:
            TryLater: the database could not do it.
        """
        try:
            future = self._writer.submit(job)
            # Not after the `await`: the client may have hung up, the commit happens all the same.
            future.add_done_callback(self._committed)
            return await self._returned().result(future)
        except (*UNAVAILABLE, Closed) as error:
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            raise TryLater("the database could not take a mail") from error

    def _returned(self) -> Awaiting:
        """What waits for the writer in the running event loop."""
        if self._awaiting is None or self._awaiting.loop is not asyncio.get_running_loop():
            self._awaiting = Awaiting(self._send_letters)
        return self._awaiting

    def _send_letters(self) -> None:
        """Wake the sender, but not before the mails' own senders have their 250."""
        if self._letters_wait:
            self._letters_wait = False
            self._wake()

    def _committed(self, future: Future[Done]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        done = future.result()
        done.remember(self._services.positions)
        if done.letters:
            self._letters_wait = True
        if done.bots:
            self._ask_bots()

    async def _carried_out(self, incoming: IncomingMail, mail_id: int | None) -> Done:
        """Look at a mail's passwords, then carry it out.

        Raises:
            TryLater: the database could not do it, or passwords change all the while.
        """
        for _ in range(MOST_CHANGES):
            try:
                vetted = await self._password_checks.vet(incoming)
            except UNAVAILABLE as error:
                raise TryLater("the database could not be asked for a password") from error
            try:
                return await self.commit(partial(self._carry_out, vetted, mail_id))
            except Outdated:
                continue
        raise TryLater("passwords change all the while")


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
            recipient=_key(self.envelope.recipient),
            sender=self.envelope.sender,
            peer=self.envelope.peer,
            raw=self.envelope.raw,
            state=self.state,
            error=self.error,
            verdict=self.verdict,
            now=now,
        )


def _receipt(done: Done) -> Receipt:
    assert done.receipt is not None
    return done.receipt


def _copy(connection: Connection, digest: str, recipient: str) -> Done:
    """What is said of a mail that has been here before."""
    number = inbox.number_of(connection, digest, _key(recipient))
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


def _key(recipient: str) -> str:
    """Copies of one mail may come to one address in different letter case."""
    return recipient.lower()
