"""The one letter a day to somebody whose mails are put off."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.service.core.answers import Part
from pbmserv.service.core.context import Services
from pbmserv.service.core.results import message_id
from pbmserv.service.limits.rates import Over
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import NewLetter

TOLD_EVERY = timedelta(days=1)


def letter(
    services: Services, connection: Connection, sender: str, over: Over, now: datetime
) -> NewLetter | None:
    """The explanation, unless it was given today.

    It goes to a player's own address, or to the address that has sent too much itself. Of a network
    with too much mail only players hear: the addresses in such mails may be anybody's.
    """
    player = _player(connection, sender, over)
    if player is not None:
        if not preferences.may_tell(connection, player.id, "busy", now, TOLD_EVERY):
            return None
    elif over.kind != "address" or not services.traffic.may_tell(sender):
        return None
    words = {"kind": over.kind, "most": over.most, "span": over.span}
    part = Part("too-many", words | {"again": f"{over.again:%Y-%m-%d %H:%M} UTC"})
    return NewLetter(
        letter=part.letter,
        recipient=player.address if player else sender,
        words=part.words,
        message_id=message_id(services.mail_domain.domain, part),
        player_id=player.id if player else None,
    )


def _player(connection: Connection, sender: str, over: Over) -> Player | None:
    if over.kind == "player":
        found = players.by_id(connection, int(over.who))
        return found if found is not None and found.active else None
    return next(iter(players.by_address(connection, sender.lower())), None)
