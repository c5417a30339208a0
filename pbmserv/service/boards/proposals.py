"""Proposals of boards by players: their limits, and the letters to everybody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pbmserv.engine.protocol import races
from pbmserv.errors import Refused
from pbmserv.service.boards import bot_turns
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.unconfirmed_boards import ask_to_confirm
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges

OPEN_CHALLENGES = 10
"""Most challenges of one player that wait for an answer."""

ALONE = 20
"""Most running boards of one player alone."""

TOWARDS_ONE = 3
"""Most challenges of one player that wait for the same person. Players who accept at once are asked
when they have this many games with the challenger."""


def propose(
    context: CommandContext, sender: Player, proposal: Proposal, words: dict[str, Any]
) -> Answer:
    """Make a board of a proposal and tell everybody.

    Args:
        words: added to all letters.

    Raises:
        Refused: a player takes no challenges, or too many challenges wait for an answer.
    """
    refuse_closed_game(context, proposal.game)
    others = [player for player in proposal.sitting if player.id != sender.id]
    _refuse_unwilling_players(context, sender, others)
    invited = [player for player in others if not _begins_at_once(context, player, sender)]
    proven = context.is_proven(sender.id, sender.userid)
    if not (proven or invited):
        return ask_to_confirm(context, sender, proposal, words.get("replay"))
    if others:
        _refuse_too_many_challenges(context, sender, invited, proven=proven)
    elif challenges.count_alone(context.connection, sender.id) >= ALONE:
        raise Refused("many-alone", most=ALONE, example=f"games {sender.userid}")
    accepted = {player.id for player in proposal.sitting} - {player.id for player in invited}
    rated = proposal.rated and bot_turns.can_be_rated(proposal.game, proposal.sitting)
    proposal = replace(proposal, rated=rated, sender=sender)
    board = make_board(context, proposal, accepted, proven=proven)
    context.current.speaker = sender
    words = {
        **words,
        "by": sender.userid,
        "others": [player.userid for player in others],
        "house": [player.userid for player in others if bot_turns.is_bot(player)],
        "race": _is_race(proposal),
        "undecided": list(board.undecided),
        "unreachable": [player.userid for player in others if player.unreachable_since],
        "said": words_for_others(context) if not all(map(bot_turns.is_bot, others)) else "",
    }
    own, notifications = [], []
    for sitter in board.sitters:
        if sitter.player_id == sender.id:
            letter = "challenged" if invited else "started"
            own.append(Part(letter, words, board.id, 0, sitter.seat, board.thread))
        else:
            letter = "challenge" if sitter.accepted_at is None else "started"
            part = Part(letter, words, board.id, 0, sitter.seat, board.thread)
            notifications.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(notifications))


def _refuse_unwilling_players(
    context: CommandContext, sender: Player, others: list[Player]
) -> None:
    """Refuse a board if one of its players takes no challenges of the sender, or blocks another."""
    bot_turns.refuse_too_many_bot_boards(context, sender, others)
    people = [player for player in others if not bot_turns.is_bot(player)]
    for player in people:
        if not takes_challenges(player):
            raise Refused("unavailable", part=player.userid)
    contact.refuse_blocked_players(context, sender.id, people)
    contact.refuse_blocks_among(context, people)


def takes_challenges(player: Player) -> bool:
    """Return whether a player takes challenges."""
    return player.active and player.accept != "none"


def _is_race(proposal: Proposal) -> bool:
    game = proposal.game
    options = game.options(proposal.options, len(proposal.sitting))
    return races(game) and game.is_race(options)


def _begins_at_once(context: CommandContext, player: Player, sender: Player) -> bool:
    """Return whether a game with this player begins without a question."""
    if bot_turns.is_bot(player):
        return True
    if player.accept != "auto" or player.unreachable_since is not None:
        return False
    return challenges.count_running_between(context.connection, sender.id, player.id) < TOWARDS_ONE


def _refuse_too_many_challenges(
    context: CommandContext, sender: Player, invited: list[Player], *, proven: bool
) -> None:
    """Refuse a challenge too many. Unproven ones do not count against a player's own limit."""
    if not invited:
        return
    example = f"games {sender.userid}"
    connection = context.connection
    if challenges.count_open(connection, sender.id, proven=proven) >= OPEN_CHALLENGES:
        code = "many-challenges" if proven else "many-unproven"
        raise Refused(code, most=OPEN_CHALLENGES, example=example)
    for player in invited:
        towards = challenges.count_open_towards(connection, sender.id, player.id, proven=proven)
        if towards >= TOWARDS_ONE:
            raise Refused("many-towards-one", part=player.userid, most=TOWARDS_ONE, example=example)


def sender_of(context: CommandContext, sitting: tuple[Player, ...], example: str) -> Player:
    """Return the player who sends a challenge.

    A reply address proves it. Otherwise the From address decides. It proves nothing, but a forger
    only causes a question to the others, or to the player if nobody else is asked.

    Args:
        example: the right command, with ``{you}`` for the sender's userid.
    """
    if context.actor.speaks_for:
        writers = [context.speaker(None)]
    else:
        owners = players.by_address(context.connection, context.actor.address)
        writers = [player for player in owners if player.active]
    ids = {player.id for player in writers}
    for player in sitting:
        if player.id in ids:
            return player
    address = context.actor.address
    if writers:
        right = example.replace("{you}", writers[0].userid)
    else:
        right = f"signup {address.partition('@')[0]} PASSWORD"
    raise Refused("challenge-not-you", part=address, example=right)
