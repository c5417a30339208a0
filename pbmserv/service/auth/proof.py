"""Whether a mail proves to be a player's; if not, a letter asks before a board begins.

What a yes to that letter does stands in `service.unproven`.
"""

from __future__ import annotations

from pbmserv.engine.registry import shown_options
from pbmserv.errors import Refused
from pbmserv.service.boards.proposals import Proposal
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges
from pbmserv.store.boards.challenges import Unconfirmed

ANSWERED_DAYS = 7
"""Days for which a letter can be answered that asks whether a board is to begin."""


def is_proven(context: CommandContext, sender: Player) -> bool:
    """Whether the mail proves to be this player's: by a reply address, a password in any of its
    lines, or a verified From. Everything else anybody can have written."""
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player == sender.id:
        return True
    return sender.id in context.counted or context.vouched_for(sender.userid) is not None


def wait_for_yes(
    context: CommandContext, sender: Player, proposal: Proposal, replayed: int | None
) -> Answer:
    """Ask the player at the player's own address; until then there is no board.

    Raises:
        Refused: that was asked a few times today.
    """
    game, options = proposal.game, proposal.options
    words = shown_options(game, options, len(proposal.sitting))
    source = context.incoming.source
    if context.services.traffic.asks([sender.address], source):
        raise Refused("begin-often", part=sender.userid, example=f"{game.info.key} help")
    number = challenges.add_unconfirmed(
        context.connection,
        Unconfirmed(
            sender.id,
            game.info.key,
            options,
            tuple(player.id for player in proposal.sitting),
            proposal.terms,
            replayed,
            context.now,
        ),
    )
    context.player, context.sitter, context.unproven = sender, None, True
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
