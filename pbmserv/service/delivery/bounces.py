"""Letters that came back: failures are counted by address, until an address is given up.

Two hard failures with `APART` between them give an address up, since a mail server that is broken
for an hour can refuse all letters of an evening. A hard failure counts for `HARD_LASTS`. A full
mailbox (soft) gives its address up after `MOST_SOFT` such days, each at most `SOFT_LASTS` after the
one before. Failures of a single letter (filters, size) do not count.

A letter that came back is sent again a day later, as a new letter. So the bad hour of a mail server
loses nothing, and a dead address is recognized even if few letters go there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.mail.bounce_codes import Failure, Verdict, of_refusal
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.monitoring import metrics
from pbmserv.service.accounts import absences
from pbmserv.service.boards import invitation_answers
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import outbox_row, queue_letters
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.services import Services
from pbmserv.service.delivery import reachability
from pbmserv.store.accounts import notices, players
from pbmserv.store.delivery import bounces, inbox, outbox
from pbmserv.store.delivery.bounces import BouncedLetter, BounceRecord
from pbmserv.store.delivery.outbox import NewLetter
from pbmserv.store.tables.mail import LetterState

MOST_HARD = 2
MOST_SOFT = 10
APART = timedelta(hours=18)
"""Least time between two failures that count; less than a day, so that two digests count."""
HARD_LASTS = timedelta(days=30)
SOFT_LASTS = timedelta(days=7)
TOO_LATE = timedelta(days=30)
"""Age of a letter at which reports about it no longer count: queues give up after days."""
AGAIN = timedelta(days=1)
"""Time after which a letter that came back is sent again."""
ASTRAY_EVERY = timedelta(days=1)

log = logging.getLogger("pbmserv.service")


# -- reports and refusals --------------------------------------------------------------------


def receive(
    context: CommandContext, failures: Sequence[Failure], *, is_away_note: bool
) -> list[NewLetter]:
    """Carry out a mail to the envelope sender of a letter; return the letters that it causes.

    The address speaks for nobody, so no command is carried out, and a report is never answered.

    Args:
        failures: deliveries that the mail reports as failed.
        is_away_note: it looks like the note of somebody who is out of the office.
    """
    reply_address = context.reply_address
    letter = bounces.lock_letter(context.connection, reply_address.about) if reply_address else None
    if context.mail_id is not None:
        if failures or letter is None or letter.player_id is None:
            # A report quotes the letter, with reply addresses and words of others; its own message
            # is stored with the letter.
            inbox.erase_text_and_sender(context.connection, context.mail_id)
        else:
            inbox.set_player(context.connection, context.mail_id, letter.player_id)
    if letter is None:
        return []
    notifications = _notifications_for(context, letter, failures, is_away_note)
    return [outbox_row(context, notification) for notification in notifications]


def _notifications_for(
    context: CommandContext, letter: BouncedLetter, failures: Sequence[Failure], is_away_note: bool
) -> list[Notification]:
    if failures:
        return _count_report(context, letter, failures)
    if is_away_note:
        return absences.ask_if_away(context, letter.player_id)
    if not context.submission.may_be_answered:
        return []
    return _tell_where_answers_go(context, letter)


def handle_failure(
    services: Services, connection: Connection, letter_id: int, refusal: str | None, now: datetime
) -> None:
    """Handle a letter that is not tried again.

    Args:
        refusal: the relay's reply, which counts like a report about the letter; `None` if the
            letter could not be made, which its reader is told.
    """
    letter = bounces.lock_letter(connection, letter_id)
    if letter is None:
        return
    context = CommandContext(services, connection, NOBODY, now)
    if refusal is None:
        queue_letters(context, _tell_of_unmade_letter(connection, letter))
    elif failure := of_refusal(refusal, letter.recipient):
        queue_letters(context, _record_failure(context, letter, failure))


def _tell_of_unmade_letter(connection: Connection, letter: BouncedLetter) -> list[Notification]:
    """Return a note to the reader of a letter about a board that could not be made."""
    row = outbox.letter(connection, letter.id)
    if row is None or row.board_id is None or row.player_id is None or not row.message_id:
        return []  # an old letter that an operator sent again
    player = players.by_id(connection, row.player_id)
    if player is None or not player.active or player.unreachable_since is not None:
        return []
    return [Notification(player.address, player.id, Part("unshown", {"board": row.board_id}))]


def _count_report(
    context: CommandContext, letter: BouncedLetter, failures: Sequence[Failure]
) -> list[Notification]:
    """Count what a report says about this letter's recipient; about others it proves nothing."""
    is_out = letter.state in {LetterState.SENT, LetterState.QUEUED}
    if context.now - letter.since > TOO_LATE or not is_out:
        return []
    if letter.state == LetterState.SENT and letter.earlier_reason:
        return []  # one letter counts once
    failure = next((f for f in failures if letter.recipient.lower() in f.recipients), None)
    if failure is None and len(failures) == 1 and not _arrives_elsewhere(context, letter):
        (failure,) = failures  # by its forwarded address, or another spelling
    return [] if failure is None else _record_failure(context, letter, failure)


def _arrives_elsewhere(context: CommandContext, letter: BouncedLetter) -> bool:
    """Return whether the letter's player has written since this or an earlier letter came back.

    Of two mailboxes to which an address forwards, one may be dead; answered letters are read. Only
    the letter's reader could forge the report, and knows the recipient anyway.
    """
    if letter.player_id is None:
        return True
    records = bounces.records_of(context.connection, [letter.recipient.lower()])
    times = [letter.since, *(r.hard_at or r.soft_at or letter.since for r in records)]
    own = players.addresses_of(context.connection, letter.player_id)
    return inbox.heard_from(context.connection, letter.player_id, own, min(times))


def _tell_where_answers_go(context: CommandContext, letter: BouncedLetter) -> list[Notification]:
    """Tell a reader who answered to the envelope sender where answers go."""
    if letter.player_id is None:
        return []
    player = players.by_id(context.connection, letter.player_id)
    if player is None or not player.active:
        return []
    if not players.has_address(context.connection, player.id, context.actor.address):
        return []
    if not notices.note(context.connection, player.id, "astray", context.now, ASTRAY_EVERY):
        return []
    return [Notification(player.address, player.id, Part("astray", {"userid": player.userid}))]


# -- counted failures ------------------------------------------------------------------------


def with_failure(record: BounceRecord, failure: Failure, now: datetime) -> BounceRecord:
    """Return the record of an address after one more failure; the same if it does not count."""
    if failure.verdict is Verdict.HARD:
        count = _count_with(record.hard, record.hard_at, now, HARD_LASTS)
        after = replace(record, hard=count, hard_at=now)
    elif failure.verdict is Verdict.SOFT:
        count = _count_with(record.soft, record.soft_at, now, SOFT_LASTS)
        after = replace(record, soft=count, soft_at=now)
    else:
        return record
    if not count:
        return record
    given_up = after.hard >= MOST_HARD or after.soft >= MOST_SOFT
    return replace(
        after,
        status=failure.status,
        diagnostic=failure.diagnostic,
        suspended_at=now if given_up else None,
    )


def _count_with(count: int, last: datetime | None, now: datetime, lasts: timedelta) -> int:
    """Return the count with this failure, 0 if it comes too soon to count."""
    if last is None or now - last > lasts:
        return 1
    return count + 1 if now - last >= APART else 0


def _record_failure(
    context: CommandContext, letter: BouncedLetter, failure: Failure
) -> list[Notification]:
    """Count a failure, and send its letter again later."""
    words = f"came back ({failure.verdict.value}): {failure.diagnostic}"
    bounces.note_reason(context.connection, letter, words, context.now)
    metrics.BOUNCES.inc()
    log.info(
        "letter came back",
        extra={"letter": letter.id, "verdict": failure.verdict.value, "status": failure.status},
    )
    address = letter.recipient.lower()
    if letter.letter == "invitation":
        return list(invitation_answers.tell_inviter(context, letter))
    if failure.verdict is Verdict.REFUSED or not _went_to_own_address(context, letter, address):
        return []
    records = bounces.records_of(context.connection, [address])
    before = records[0] if records else BounceRecord(address)
    after = with_failure(before, failure, context.now) if before.suspended_at is None else before
    if after.suspended_at is not None:
        bounces.hold(context.connection, letter)
    elif not kind_of(letter.letter).always_tried:
        bounces.send_later(context.connection, letter, context.now + AGAIN, context.now)
    if after == before:
        return []
    bounces.store(context.connection, after)
    return [] if after.suspended_at is None else _give_up(context, after, letter)


def _give_up(
    context: CommandContext, record: BounceRecord, letter: BouncedLetter
) -> list[Notification]:
    log.warning("an address is given up", extra={"letter": letter.id})
    notifications: list[Notification] = []
    for player in players.by_address(context.connection, record.address):
        if player.address == record.address:
            notifications += reachability.leave_address(context, player, record)
    return notifications


def _went_to_own_address(context: CommandContext, letter: BouncedLetter, address: str) -> bool:
    """Lock the row of a letter's player; return whether the letter went to an own address."""
    if letter.player_id is None:
        return False
    players.lock(context.connection, letter.player_id)
    player = players.by_id(context.connection, letter.player_id)
    if player is None or not player.active:
        return False
    return players.has_address(context.connection, player.id, address)
