"""Limits on answers, so that loops and floods end in silence.

Only mails without effect are counted: moves and messages to others are the game itself. Letters
that anybody can cause at any address (a signup's question, a new password) have limits of their
own. A player whose mails are put off is told so once a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.errors import Refused
from pbmserv.mail.reply_address import speaker_of
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.results import Notification, Part, message_id
from pbmserv.service.core.unproven_answers import may_be_forged
from pbmserv.service.limits.rates import Idle, Over, Reply
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import NewLetter


def must_not_reach_too_many(context: CommandContext, reaching: Iterable[Notification]) -> None:
    """Refuse a command that would reach too many people; each person counts.

    Args:
        reaching: letters that only their writer wanted (``LetterKind.reaches_others``).

    Raises:
        Refused: the limit is exceeded; the command has no effect.
    """
    speaker = context.sitter.player_id if context.sitter is not None else None
    if context.player is not None:
        speaker = context.player.id
    others = [letter for letter in reaching if letter.player_id not in {None, speaker}]
    if speaker is None or not others:
        return
    if not context.services.traffic.may_reach(speaker, len(others)):
        raise Refused("reaches-many", count=len(others))


def outcome(context: CommandContext, *, done: bool, told: bool) -> Idle:
    """Return the result of a mail without effect on a game.

    Args:
        done: whether a command was carried out.
        told: whether there are letters to others.
    """
    if told and context.talks:
        return "talk"
    return "answered" if done else "refused"


def count_answers(context: CommandContext, result: Idle, answers: Sequence[NewLetter]) -> Reply:
    """Count a mail without effect, and return whether its answers are sent."""
    incoming = context.incoming
    player = speaker_of(incoming.reply_address)
    # The subject of a reply is that of our letter; the subject of another mail may be a command.
    words = incoming.text if player else f"{incoming.mail.subject}\n{incoming.text}"
    to = answers[0].recipient.lower() if answers else incoming.mail.sender.lower()
    readers = [letter.player_id for letter in answers]
    stranger = to if may_be_forged(context, readers) else ""
    return context.services.traffic.answers(
        _whose(context), words, result, stranger, incoming.source
    )


def _whose(context: CommandContext) -> str:
    """Return the name under which answers to a mail are counted.

    That is the proven player; else the sender and where the mail came from.
    """
    incoming = context.incoming
    sender = incoming.mail.sender.lower()
    if incoming.reply_address is not None and incoming.reply_address.player:
        return f"{sender} {incoming.reply_address.player}"
    if context.counted:
        return f"players {sorted(context.counted)}"
    return f"{sender} {'verified' if incoming.verdict.passed else incoming.source.neighbours}"


def must_not_flood(context: CommandContext, addresses: Iterable[str]) -> None:
    """Refuse another letter that asks for an answer at *addresses*.

    Raises:
        Refused: one of the addresses got enough of them today, or this network or player causes too
            many letters to strangers. A proven sender may always cause letters to the own address.
    """
    own = context.incoming.mail.sender.lower() if context.incoming.verdict.passed else ""
    recipients = list(dict.fromkeys(address.lower() for address in addresses))
    others = [address for address in recipients if address != own]
    player = context.player.id if context.player is not None else 0
    traffic, source = context.services.traffic, context.incoming.source
    full_address = traffic.asks(others, source)
    if full_address:
        raise Refused("asked-often", part=full_address)
    if others:
        limit = traffic.asks_strangers(others, source, player)
        if limit:
            raise Refused("asked-many", why=limit)


TOLD_EVERY = timedelta(days=1)


def over_limit_letter(
    services: Services,
    connection: Connection,
    sender: str,
    over: Over,
    now: datetime,
    *,
    waits: bool | None,
) -> NewLetter | None:
    """Return the letter that explains a limit, `None` if it was sent today.

    It goes to a player's own address, or to the address that has sent too much. If a network has
    sent too much, only players get it: the addresses in such mails may be anybody's.

    Args:
        waits: whether the stored mail waits here until it may be carried out; `None` if it was not
            accepted, and waits at its own server.
    """
    player = _sender_of(connection, sender, over)
    if player is not None:
        if not preferences.may_tell(connection, player.id, "busy", now, TOLD_EVERY):
            return None
    elif over.kind != "address" or not services.traffic.may_tell(sender):
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
