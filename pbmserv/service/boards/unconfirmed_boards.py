"""Boards that a mail without proof asks for; their players are asked by letter.

If such a mail asks for a board that asks no other player, the board waits for a yes from the
player's own address. Otherwise anybody could begin boards that count against a player's limit.
Questions without an answer are dropped, and never count. `unconfirmed_answers` has the answers.
"""

from __future__ import annotations

from pbmserv.engine.registry import shown_options
from pbmserv.errors import Refused
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import unconfirmed_boards
from pbmserv.store.boards.unconfirmed_boards import Unconfirmed

ANSWERED_DAYS = 7
"""Days for which the question whether to begin a board can be answered."""


def ask_to_confirm(
    context: CommandContext, sender: Player, proposal: Proposal, replayed: int | None
) -> Answer:
    """Ask the player by a letter to the player's own address whether to begin the board.

    Raises:
        Refused: the player was asked too often today.
    """
    game, options = proposal.game, proposal.options
    words = shown_options(game, options, len(proposal.sitting))
    source = context.actor.source
    if context.services.traffic.count_questions([sender.address], source):
        raise Refused("begin-often", part=sender.userid, example=f"{game.info.key} help")
    number = unconfirmed_boards.add(
        context.connection,
        Unconfirmed(
            player_id=sender.id,
            game=game.info.key,
            options=options,
            sitting=tuple(player.id for player in proposal.sitting),
            terms=proposal.terms,
            replayed=replayed,
            created_at=context.now,
        ),
    )
    context.current.speaker, context.proofs.unproven = sender, True
    others = [player.userid for player in proposal.sitting if player.id != sender.id]
    letter_words = {
        "number": number,
        "userid": sender.userid,
        "title": game.info.title,
        "others": others,
        "options": list(words),
        "replay": replayed,
        "days": ANSWERED_DAYS,
    }
    return Answer((Part("begin-asked", letter_words),))
