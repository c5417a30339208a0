"""The letter to a sender whose mails are over a limit."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.limits.rates import Over
from pbmserv.store.accounts import notices, players
from pbmserv.store.accounts.players import Player

EXPLAINED_EVERY = timedelta(days=1)
"""Least time between two explanations of a limit to a player."""


class WaitsAt(StrEnum):
    """The place at which a mail over a limit waits."""

    SERVER = "server"
    """Here, until it may be carried out."""
    SENDER = "sender"
    """It was not accepted; the sender's mail server tries again."""
    NOWHERE = "nowhere"
    """It was accepted, and there is no room to keep it."""


def explain_limit(
    context: CommandContext, sender: str, over: Over, waits_at: WaitsAt
) -> list[Notification]:
    """Return the letter that explains a limit to the sender of a mail; none if it was given today.

    It goes to the own address of a player, or to an address that has sent too much itself. If a
    network has sent too much, only players hear of it: the From addresses may be anybody's.
    """
    player = _sender_of(context, sender, over)
    if player is not None:
        if not notices.note(context.connection, player.id, "busy", context.now, EXPLAINED_EVERY):
            return []
    elif over.kind != "address" or not context.services.traffic.may_explain(sender):
        return []
    words = {"kind": over.kind, "most": over.most, "span": over.span, "waits_at": waits_at}
    part = Part("too-many", words | {"again": f"{over.again:%Y-%m-%d %H:%M} UTC"})
    if player is None:
        return [Notification(sender, None, part)]
    return [Notification(player.address, player.id, part)]


def _sender_of(context: CommandContext, sender: str, over: Over) -> Player | None:
    if over.kind == "player":
        player = players.by_id(context.connection, int(over.who))
        return player if player is not None and player.active else None
    return next(iter(players.by_address(context.connection, sender.lower())), None)
