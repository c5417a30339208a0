"""Whether a mail proves to be a player's; if not, a letter asks before a board begins.

What a yes to that letter does stands in `service.unproven`.
"""

from __future__ import annotations

from pbmserv.engine.registry import shown_options
from pbmserv.errors import Refused
from pbmserv.service.boards.proposals import Proposal
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import Desk
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import unconfirmed
from pbmserv.store.boards.unconfirmed import Unconfirmed

ANSWERED_DAYS = 7
"""Days for which a letter can be answered that asks whether a board is to begin."""


def is_proven(desk: Desk, sender: Player) -> bool:
    """Whether the mail proves to be this player's: by a reply address, a password in any of its
    lines, or a verified From. Everything else anybody can have written."""
    capability = desk.capability
    if capability is not None and capability.player == sender.id:
        return True
    return sender.id in desk.counted or desk.vouched_for(sender.userid) is not None


def wait_for_yes(desk: Desk, sender: Player, proposal: Proposal, replayed: int | None) -> Answer:
    """Ask the player at the player's own address; until then there is no board.

    Raises:
        Refused: that was asked a few times today.
    """
    game, options = proposal.game, proposal.options
    words = shown_options(game, options, len(proposal.sitting))
    source = desk.post.source
    if desk.rooms.traffic.asks([sender.address], source):
        raise Refused("begin-often", part=sender.userid, example=f"{game.info.key} help")
    number = unconfirmed.add(
        desk.connection,
        Unconfirmed(
            sender.id,
            game.info.key,
            options,
            tuple(player.id for player in proposal.sitting),
            proposal.terms,
            replayed,
            desk.now,
        ),
    )
    desk.player, desk.sitter, desk.unproven = sender, None, True
    others = [player.userid for player in proposal.sitting if player.id != sender.id]
    asked = {
        "number": number,
        "userid": sender.userid,
        "title": game.info.title,
        "others": others,
        "options": list(words),
        "replay": replayed,
        "days": ANSWERED_DAYS,
    }
    return Answer((Part("begin-asked", asked),))
