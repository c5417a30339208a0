"""Which answers are not given any more: loops and floods end by silence.

Only mails that lead nowhere are counted: those that move a game on, or tell somebody else
something, are the game itself. Letters that anybody can have sent to anybody (a signup's question,
a new password) have limits of their own. Whose mails are put off hears so once a day.
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
    """Refuse what would reach too many people: they are counted one by one, not by the mail.

    Args:
        reaching: letters that come of their writer's wish alone (``LetterKind.reaches_others``).

    Raises:
        Refused: it would; nothing of the command is done.
    """
    speaker = context.sitter.player_id if context.sitter is not None else None
    if context.player is not None:
        speaker = context.player.id
    others = [told for told in reaching if told.player_id not in {None, speaker}]
    if speaker is None or not others:
        return
    if not context.services.traffic.may_reach(speaker, len(others)):
        raise Refused("reaches-many", count=len(others))


def outcome(context: CommandContext, *, done: bool, told: bool) -> Idle:
    """What a mail that led nowhere led to.

    Args:
        done: a command was carried out.
        told: there are letters to others.
    """
    if told and context.talks:
        return "talk"
    return "answered" if done else "refused"


def goes_on(context: CommandContext, found: Idle, answers: Sequence[NewLetter]) -> Reply:
    """What becomes of the answers to a mail that led nowhere."""
    incoming = context.incoming
    player = speaker_of(incoming.reply_address)
    # The subject of a reply is ours, and changes with our letter; that of a command is all of it.
    words = incoming.text if player else f"{incoming.mail.subject}\n{incoming.text}"
    to = answers[0].recipient.lower() if answers else incoming.mail.sender.lower()
    readers = [letter.player_id for letter in answers]
    stranger = to if may_be_forged(context, readers) else ""
    return context.services.traffic.answers(
        _whose(context), words, found, stranger, incoming.source
    )


def _whose(context: CommandContext) -> str:
    """Whose mail it was, as far as it proves that; else whose it says, and where it came from."""
    incoming = context.incoming
    sender = incoming.mail.sender.lower()
    if incoming.reply_address is not None and incoming.reply_address.player:
        return f"{sender} {incoming.reply_address.player}"
    if context.counted:
        return f"players {sorted(context.counted)}"
    return f"{sender} {'verified' if incoming.verdict.passed else incoming.source.neighbours}"


def must_not_flood(context: CommandContext, addresses: Iterable[str]) -> None:
    """Refuse one more letter that asks for an answer at *addresses*, if there were some today, or
    if this network or player brings too many such letters to others.

    Who is proven to write from an address may ask there as often as it takes.
    """
    own = context.incoming.mail.sender.lower() if context.incoming.verdict.passed else ""
    asked = list(dict.fromkeys(address.lower() for address in addresses))
    others = [address for address in asked if address != own]
    player = context.player.id if context.player is not None else 0
    traffic, source = context.services.traffic, context.incoming.source
    full = traffic.asks(others, source)
    if full:
        raise Refused("asked-often", part=full)
    if others:
        reached = traffic.asks_strangers(others, source, player)
        if reached:
            raise Refused("asked-many", why=reached)


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
    """The explanation, unless it was given today.

    Args:
        waits: whether the mail waits here until it may be carried out; ``None``: it was not taken,
            and waits where it comes from.

    It goes to a player's own address, or to the address that has sent too much itself. Of a network
    with too much mail only players hear: the addresses in such mails may be anybody's.
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
        found = players.by_id(connection, int(over.who))
        return found if found is not None and found.active else None
    return next(iter(players.by_address(connection, sender.lower())), None)
