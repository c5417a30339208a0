"""Decides which answers are not given: loops and floods end in silence.

Only mails that lead to nothing are counted. Mails that move a game, or tell somebody else
something, are the game itself. A player who is known gets an answer to every refused move, unless
these are more than a person writes. Letters that anybody can have sent to anybody (a signup's
question, a new password) have limits of their own. A sender of mails that are put off hears of it
once a day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.mail.reply_address import speaker_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import message_id
from pbmserv.service.core.outcome import Part
from pbmserv.service.core.services import Services
from pbmserv.service.limits.rates import Idle, Over, Reply
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import NewLetter

EXPLAINED_EVERY = timedelta(days=1)
"""Least time between two explanations of a limit to a player."""


def decide(context: CommandContext, idle: Idle, answers: Sequence[NewLetter]) -> Reply:
    """Decide whether a mail that led to nothing is answered."""
    actor, submission = context.actor, context.submission
    # The subject of a reply is ours, and changes with our letter; the subject of another mail is
    # part of its words.
    is_reply = bool(speaker_of(actor.reply_address))
    words = submission.text if is_reply else f"{submission.subject}\n{submission.text}"
    focus = context.current.focus
    if idle == "move" and focus is not None:  # the same move at another board is another
        words = f"{focus.board.id}\n{words}"
    recipient = answers[0].recipient.lower() if answers else actor.address.lower()
    is_forged = context.may_be_forged([answer.player_id for answer in answers])
    return context.services.traffic.count_idle_mail(
        _writer(context), words, idle, recipient if is_forged else "", actor.source
    )


def _writer(context: CommandContext) -> str:
    """Return a name for the writer: the proven players, else the claimed address and its origin."""
    actor = context.actor
    sender = actor.address.lower()
    if actor.reply_address is not None and actor.reply_address.player:
        return f"{sender} {actor.reply_address.player}"
    if context.proofs.counted:
        return f"players {sorted(context.proofs.counted)}"
    return f"{sender} {'verified' if actor.is_verified else actor.source.neighbours}"


def over_limit_letter(
    services: Services,
    connection: Connection,
    sender: str,
    over: Over,
    now: datetime,
    *,
    waits: bool | None,
) -> NewLetter | None:
    """Return the explanation of a limit for the sender of a mail; `None` if it was given today.

    It goes to the own address of a player, or to an address that has sent too much itself. If a
    network has sent too much, only players hear of it: the From addresses may be anybody's.

    Args:
        waits: whether the mail waits here until it may be carried out; `None`: it was not accepted
            and waits at its sender.
    """
    player = _sender_of(connection, sender, over)
    if player is not None:
        if not preferences.note_notice(connection, player.id, "busy", now, EXPLAINED_EVERY):
            return None
    elif over.kind != "address" or not services.traffic.may_explain(sender):
        return None
    words = {"kind": over.kind, "most": over.most, "span": over.span, "waits": waits}
    part = Part("too-many", words | {"again": f"{over.again:%Y-%m-%d %H:%M} UTC"})
    return NewLetter(
        letter=part.letter,
        recipient=player.address if player else sender,
        words=part.words,
        message_id=message_id(services.mail_domain, part),
        player_id=player.id if player else None,
    )


def _sender_of(connection: Connection, sender: str, over: Over) -> Player | None:
    if over.kind == "player":
        player = players.by_id(connection, int(over.who))
        return player if player is not None and player.active else None
    return next(iter(players.by_address(connection, sender.lower())), None)
