"""Decides whether a mail that led to nothing is answered: loops and floods end in silence.

Mails that move a game, or tell somebody else something, are the game itself and are not counted. A
player who is known gets an answer to every refused move, unless these are more than a person
writes. Letters that anybody can have sent to anybody (a signup's question, a new password) have
limits of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.service.core.answer_readers import may_be_forged
from pbmserv.service.core.context import CommandContext
from pbmserv.service.limits.rates import Idle, Reply
from pbmserv.store.delivery.outbox import NewLetter


def decide_reply(context: CommandContext, idle: Idle, answers: Sequence[NewLetter]) -> Reply:
    """Decide whether a mail that led to nothing is answered."""
    actor, submission = context.actor, context.submission
    # The subject of a reply is ours, and changes with our letter; the subject of another mail is
    # part of its words.
    words = submission.text if actor.speaks_for else f"{submission.subject}\n{submission.text}"
    focus = context.current.focus
    if idle == "move" and focus is not None:  # the same move at another board is another
        words = f"{focus.board.id}\n{words}"
    recipient = answers[0].recipient.lower() if answers else actor.address.lower()
    is_forged = may_be_forged(context, [answer.player_id for answer in answers])
    return context.services.traffic.count_idle_mail(
        _writer(context), words, idle, recipient if is_forged else "", actor.source
    )


def _writer(context: CommandContext) -> str:
    """Return a name for the writer: the proven players, else the claimed address and its origin."""
    actor = context.actor
    sender = actor.address.lower()
    if actor.speaks_for:
        return f"{sender} {actor.speaks_for}"
    if context.proofs.counted:
        return f"players {sorted(context.proofs.counted)}"
    return f"{sender} {'verified' if actor.is_verified else actor.source.neighbours}"
