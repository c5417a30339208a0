"""Outbox rows of letters."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import NewLetter


def outbox_row(context: CommandContext, notification: Notification, answers: str = "") -> NewLetter:
    """Return the outbox row of a letter; it waits for a digest if it can and its reader wants that.

    The Message-ID of a letter about a board says how many turns were used in its position.

    Args:
        answers: the Message-ID of the mail that it answers.
    """
    part = notification.part
    return NewLetter(
        letter=part.letter,
        recipient=notification.recipient,
        words=part.words,
        message_id=_message_id(context, part),
        in_reply_to=answers,
        player_id=notification.player_id,
        board_id=part.board,
        ply=part.ply,
        seat=part.seat,
        for_digest=notification.digest and kind_of(part.letter).can_wait,
    )


def _message_id(context: CommandContext, part: Part) -> str:
    mail_domain = context.services.mail_domain
    if part.board is None:
        return f"<{part.letter}.{secrets.token_hex(8)}@{mail_domain.domain}>"
    if part.opens:
        return mail_domain.letter_id(part.board, 0, part.seat, part.opens)
    position = context.effects.positions.get(part.board)
    if position is None:
        board = boards.load(context.connection, part.board)
        assert board is not None
        position = context.services.positions.newest(context.connection, board)
    if part.ply is not None and part.ply < position.number:
        position = position.at(part.ply)
    turns = position.turns_of(part.seat)
    return mail_domain.letter_id(part.board, turns, part.seat, secrets.token_hex(8))


def outbox_rows(context: CommandContext, notifications: Iterable[Notification]) -> list[NewLetter]:
    """Return the outbox rows of letters, except to players who left and have no address."""
    return [
        outbox_row(context, notification)
        for notification in notifications
        if notification.recipient
    ]


def queue_letters(context: CommandContext, notifications: Iterable[Notification]) -> int:
    """Queue the rows of letters (see `outbox_rows`); return their number."""
    rows = outbox_rows(context, notifications)
    if rows:
        outbox.add(context.connection, rows, context.now, context.mail_id)
    return len(rows)
