"""The jobs of a mail: each runs in the transaction that also notes that its arrival is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection

from pbmserv.errors import GameAway
from pbmserv.mail.envelope import UNCHECKED, Envelope
from pbmserv.service.accounts import absences
from pbmserv.service.boards import game_pauses, held_letters
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.budget import Budget, Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.handler import Handlers
from pbmserv.service.core.job_result import NOTHING, Done, MailOutcome, Receipt
from pbmserv.service.core.outbox_rows import outbox_row, queue_letters
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.services import Services
from pbmserv.service.core.submission import NO_COMMANDS, Request
from pbmserv.service.delivery import bounces
from pbmserv.service.limits.rates import Over
from pbmserv.service.limits.text_quota import Quota
from pbmserv.service.mails.executor import CarriedOut, run_commands
from pbmserv.service.mails.incoming import MAIL_REPORT, IncomingMail
from pbmserv.service.mails.limit_letter import WaitsAt, explain_limit
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery import inbox, outbox, reported_sources
from pbmserv.store.delivery.inbox import FOR_POSTMASTER, NewMail
from pbmserv.store.delivery.reported_sources import OTHERS, ReportedSource
from pbmserv.store.tables.mail import MailState

WAITING = (MailState.LATER, MailState.PAUSED)
"""States of mails that are carried out by themselves, later."""
LONGEST_FAULT = 20_000
"""Characters of a traceback that are kept, from its end."""

MakeLetters: TypeAlias = Callable[[CommandContext], Iterable[Notification]]
"""Returns the letters about a mail."""


def _no_letters(_: CommandContext) -> Iterable[Notification]:
    return ()


class MailService:
    """The jobs of mails, for which the present is the time at which the mail arrived.

    Args:
        services: shared by all commands.
        quota: the room for texts of mails.
        handlers: the function for each type of command.
    """

    def __init__(self, services: Services, quota: Quota, handlers: Handlers) -> None:
        self._services = services
        self._quota = quota
        self._handlers = handlers

    def carry_out_mail(self, incoming: IncomingMail, now: datetime, connection: Connection) -> Done:
        """Carry out a mail, unless it is a copy of an earlier one.

        Raises:
            TooMany: its player has sent too much.
            Outdated: a password was changed after it was checked.
        """
        speaker = incoming.request.actor.speaks_for or None
        row = replace(_row(incoming, MailState.DONE), player_id=speaker)
        mail_id = inbox.add(connection, row, now)
        if mail_id is None:  # the unique key says that it is a copy: no effect, no answer
            return _copy(connection, row)
        return self._carry_out_noted(incoming, mail_id, now, connection)

    def carry_out_kept_mail(
        self, incoming: IncomingMail, mail_id: int, now: datetime, connection: Connection
    ) -> Done | None:
        """Carry out a mail that was kept or put off; return `None` if it no longer is."""
        if inbox.lock(connection, mail_id, MailState.KEPT, *WAITING) is None:
            return None
        if not inbox.set_digest(connection, mail_id, incoming.mail.digest):
            inbox.mark(connection, mail_id, MailState.IGNORED, "a copy of another mail that came")
            return None
        inbox.mark(connection, mail_id, MailState.DONE)
        return self._carry_out_noted(incoming, mail_id, now, connection)

    def _carry_out_noted(
        self, incoming: IncomingMail, mail_id: int, now: datetime, connection: Connection
    ) -> Done:
        """Carry out a mail that has an inbox row."""
        octets = len(incoming.envelope.raw)
        if incoming.comes_back:
            context = self._context(incoming.request, mail_id, octets, now, connection)
            is_away_note = bool(incoming.mail.automatic) and incoming.mail.away
            letters = bounces.receive(context, incoming.failures, is_away_note=is_away_note)
            return self._queue(context, CarriedOut(letters))
        return self.carry_out_request(
            incoming.request, mail_id, octets, now, connection, is_away_note=incoming.mail.away
        )

    def carry_out_request(
        self,
        request: Request,
        mail_id: int,
        octets: int,
        now: datetime,
        connection: Connection,
        *,
        is_away_note: bool = False,
    ) -> Done:
        """Carry out the commands of an inbox row, queue the letters, and keep its text if it may
        be needed.

        Args:
            mail_id: number of the row.
            octets: size of its text.
            is_away_note: without an effect, ask the player whether to count as away.
        """
        context = self._context(request, mail_id, octets, now, connection)
        result = run_commands(context, self._handlers)
        if not result.letters and is_away_note:
            questions = absences.ask_if_away(context)
            result = replace(
                result, letters=[outbox_row(context, question) for question in questions]
            )
        if result.is_proven:
            is_kept = self._quota.keep_text(MailState.DONE, octets)
        elif result.has_effect:  # anybody can have written it
            is_kept = False
        else:
            inbox.mark(connection, mail_id, MailState.ANSWERED)
            is_kept = self._quota.keep_text(MailState.ANSWERED, octets)
        if not is_kept:
            inbox.drop_text(connection, mail_id)
        return self._queue(context, result)

    def _context(
        self, request: Request, mail_id: int, octets: int, now: datetime, connection: Connection
    ) -> CommandContext:
        budget = Budget()
        budget.charge(Work.OCTETS, octets // 1024)
        return CommandContext(
            self._services, connection, request.actor, now, request.submission, mail_id, budget
        )

    def _queue(self, context: CommandContext, result: CarriedOut) -> Done:
        """Queue letters, and return a summary of all effects."""
        letters, effects = result.letters, context.effects
        has_bot_work = bool(effects.bot_turns or effects.boards_for_coach)
        if has_bot_work:
            held_letters.queue_or_hold(context, letters)
        elif letters:
            outbox.add(context.connection, letters, context.now, context.mail_id)
        assert context.mail_id is not None
        receipt = Receipt(
            context.mail_id,
            "taken",
            context.actor.speaks_for or min(context.proofs.counted, default=0),
            tuple(effects.plies),
            result.done,
            result.refused,
            len(letters),
        )
        return Done(effects.positions, len(letters), has_bot_work, receipt)

    # -- mails that are not carried out now ------------------------------------------------

    def set_aside(self, incoming: IncomingMail, now: datetime, connection: Connection) -> Done:
        """Note a mail that must not be answered. An out-of-office note leads to a question."""
        because = incoming.mail.automatic
        row = _row(incoming, MailState.IGNORED, because)
        letters = absences.ask_if_away if incoming.mail.away else _no_letters
        return self._note(row, "ignored", now, connection, incoming, letters, because)

    def drop_report(self, incoming: IncomingMail, now: datetime, connection: Connection) -> Done:
        """Note the report of another mail server, whose text is not kept (see `note_settled`)."""
        row = _row(incoming, MailState.IGNORED, MAIL_REPORT)
        done = self._note(row, "ignored", now, connection, incoming, because=MAIL_REPORT)
        if done.receipt is not None and done.receipt.outcome != "copy":
            inbox.drop_text(connection, done.receipt.mail)
            sources = incoming.mail_report.sources.items() if incoming.mail_report else ()
            reported = [ReportedSource(name or OTHERS, *numbers) for name, numbers in sources]
            reported_sources.add(connection, reported, now)
        return done

    def keep(
        self,
        envelope: Envelope,
        incoming: IncomingMail | None,
        fault: str,
        now: datetime,
        connection: Connection,
    ) -> Done:
        """Keep a mail on which our own code failed, and tell its writer that a person will look at
        it.

        Args:
            incoming: the mail as it was read; `None` if it was not, so that nobody can be told.
        """
        error = _storable(fault)
        if incoming is None:
            digest = hashlib.sha256(envelope.raw).hexdigest()
            row = NewMail.of_envelope(envelope, digest, MailState.KEPT, error, UNCHECKED)
            return self._note(row, "kept", now, connection)
        row = _row(incoming, MailState.KEPT, error)
        letters = _no_letters if incoming.mail.automatic else _news_of_kept
        return self._note(row, "kept", now, connection, incoming, letters)

    def keep_for_postmaster(
        self, incoming: IncomingMail, now: datetime, connection: Connection
    ) -> Done:
        """Keep a mail that is for the operator."""
        row = _row(incoming, MailState.KEPT, FOR_POSTMASTER)
        return self._note(row, "kept", now, connection, incoming)

    def put_off(
        self, incoming: IncomingMail, over: Over, now: datetime, connection: Connection
    ) -> Done:
        """Let a mail wait until its player may send more, and tell the player.

        If there is no room for it, it is lost, and the letter says so.
        """
        because = f"over the limit of the {over.kind}"

        def letters(context: CommandContext) -> list[Notification]:
            if incoming.mail.automatic:
                return []
            assert context.mail_id is not None
            waits_at = WaitsAt.SERVER
            if inbox.lock(connection, context.mail_id, MailState.LATER) is None:
                waits_at = WaitsAt.NOWHERE
            return explain_limit(context, incoming.mail.sender, over, waits_at)

        row = _row(incoming, MailState.LATER, because)
        return self._note(row, "put-off", now, connection, incoming, letters, because)

    def wait_for_game(
        self, incoming: IncomingMail, away: GameAway, now: datetime, connection: Connection
    ) -> Done:
        """Let a mail wait until its game can be played, and tell its player once a day."""

        def letters(context: CommandContext) -> list[Notification]:
            player = None if incoming.mail.automatic else _writer_of(incoming, connection)
            return [] if player is None else game_pauses.tell_writer(context, player, away)

        row = _row(incoming, MailState.PAUSED, away.game)
        return self._note(row, "put-off", now, connection, incoming, letters, str(away))

    def _note(
        self,
        row: NewMail,
        outcome: MailOutcome,
        now: datetime,
        connection: Connection,
        incoming: IncomingMail | None = None,
        letters: MakeLetters = _no_letters,
        because: str = "",
    ) -> Done:
        """Add the inbox row of a mail, unless it is a copy, and queue letters about it.

        Args:
            incoming: the mail as it was read; `None` if it was not.
            letters: returns the letters.
            because: see `Receipt`.
        """
        mail_id = inbox.add(connection, row, now)
        if mail_id is None:
            return _copy(connection, row)
        self._keep_text(row, mail_id, connection)
        request = incoming.request if incoming is not None else Request(NOBODY, NO_COMMANDS)
        context = CommandContext(
            self._services, connection, request.actor, now, request.submission, mail_id
        )
        count = queue_letters(context, letters(context))
        return Done(
            letters=count, receipt=Receipt(mail_id, outcome, letters=count, because=because)
        )

    def _keep_text(self, row: NewMail, mail_id: int, connection: Connection) -> None:
        """Count the text of a mail; drop it if there is no room and nothing will need it."""
        octets = len(row.raw)
        if row.state is MailState.KEPT:
            self._quota.count_kept(octets)
        elif not self._quota.keep_text(row.state, octets) and row.state is not MailState.PAUSED:
            inbox.mark(connection, mail_id, MailState.IGNORED, row.error)
            inbox.drop_text(connection, mail_id)

    def keep_put_off(self, mail_id: int, fault: str, connection: Connection) -> None:
        """Keep a mail that was put off for the operator, since our own code failed on it."""
        if inbox.lock(connection, mail_id, *WAITING) is not None:
            inbox.mark(connection, mail_id, MailState.KEPT, _storable(fault))

    def tell_too_many(
        self, sender: str, over: Over, waits_at: WaitsAt, now: datetime, connection: Connection
    ) -> Done:
        """Explain, once a day, why mails are not carried out now."""
        context = CommandContext(self._services, connection, NOBODY, now)
        letters = queue_letters(context, explain_limit(context, sender, over, waits_at))
        return Done(letters=letters) if letters else NOTHING


def _news_of_kept(context: CommandContext) -> list[Notification]:
    """Tell the writer of a kept mail that a person will look at it.

    Anybody can write any address into a mail on which our code fails, so an address gets few.
    """
    writer, source = context.actor.address, context.actor.source
    if context.services.traffic.count_questions([writer.lower()], source):
        return []
    return [Notification(writer, None, Part("kept", {"number": context.mail_id}))]


def _writer_of(incoming: IncomingMail, connection: Connection) -> Player | None:
    """Return the player whom the reply address or the proven sender of a mail names."""
    speaks_for = incoming.request.actor.speaks_for
    if speaks_for:
        return players.by_id(connection, speaks_for)
    if not incoming.verdict.passed:
        return None
    return next(iter(players.by_address(connection, incoming.mail.sender.lower())), None)


def _row(incoming: IncomingMail, state: MailState, error: str = "") -> NewMail:
    """Return the inbox row of a mail that has been read."""
    return NewMail.of_envelope(
        incoming.envelope, incoming.mail.digest, state, error, incoming.verdict
    )


def _copy(connection: Connection, row: NewMail) -> Done:
    """Return the summary of a mail that is a copy."""
    number = inbox.number_of(connection, row.digest, row.recipient)
    return Done(receipt=Receipt(number or 0, "copy"))


def _storable(error: str) -> str:
    """Return the text of a fault without characters that a database cannot store: it may quote any
    mail."""
    plain = error.encode("utf-8", "backslashreplace").decode("utf-8")
    return plain.replace("\0", "\\x00")[-LONGEST_FAULT:]
