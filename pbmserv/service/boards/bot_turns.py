"""Bots in a transaction: which boards they may play, and when they are to move.

A bot may think for long, so its move is not made in the transaction that makes it the bot's turn.
That transaction adds a row, and holds back the letter to the player who moved (`held_letters`).
`bot_worker` thinks outside of the writer and makes the move; then the letter goes out with both
moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.engine.position import Position
from pbmserv.engine.registry import AnyGame, check_agreement
from pbmserv.engine.types import Seat
from pbmserv.errors import OptionError, Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.store import bots as rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.accounts import PlayerState

MOST = 20
"""Most running boards of one player with each bot."""


def is_bot(player: Player | Sitter) -> bool:
    """Return whether a player is a bot."""
    return player.state == PlayerState.BOT


def invited_bot(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: Sequence[str],
) -> Player:
    """Return the bot of this userid, for a board with these options and players.

    Raises:
        Refused: bots do not play this game.
        OptionError: bots do not play with these options.
    """
    if userid not in game.bots:
        levels = list(game.bots)
        seated = [levels[0] if name == userid else name for name in userids] if levels else []
        example = " ".join((game.info.key, "challenge", *seated, *options)) if levels else ""
        raise Refused(
            "house-plays-not",
            part=userid,
            title=game.info.title,
            levels=", ".join(levels),
            example=example,
        )
    try:
        check_agreement(game, userid, options, len(userids))
    except OptionError as error:
        refusal = error.refusal
        line = (game.info.key, "challenge", *userids, refusal.example)
        example = " ".join(filter(None, line))
        raise OptionError(
            refusal.code, part=refusal.part, example=example, **refusal.values
        ) from error
    return rows.account(context.connection, userid, context.now)


def can_be_rated(game: AnyGame, sitting: Sequence[Player | Sitter]) -> bool:
    """Return whether a board can change ratings: of people alone, or of one and a rated bot."""
    bots = [player for player in sitting if is_bot(player)]
    if not bots:
        return True
    return len(bots) == 1 and len(sitting) == 2 and bots[0].userid in game.info.strength


def refuse_too_many_bot_boards(
    context: CommandContext, sender: Player, others: Sequence[Player]
) -> None:
    """Refuse one board too many with a bot."""
    for opponent in others:
        if (
            is_bot(opponent)
            and challenges.count_running_between(context.connection, sender.id, opponent.id) >= MOST
        ):
            example = f"games {sender.userid}"
            raise Refused("many-with-house", part=opponent.userid, most=MOST, example=example)


def refuse_chat_without_listeners(board: BoardRow, sitter: Sitter) -> None:
    """Refuse chat at a board where no other person sits."""
    others = [other for other in board.sitters if other.player_id != sitter.player_id]
    if not others:
        raise Refused("nobody-there", part="chat", example="show")
    if all(map(is_bot, others)):
        raise Refused("house-deaf", part=others[0].userid, example="show")


def to_move(board: BoardRow, position: Position) -> Seat | None:
    """Return the first seat of a bot that may use a turn, `None` if there is none."""
    return min(board.bots & position.game.to_act(position.state), default=None)


def note_turn(context: CommandContext, board: BoardRow, position: Position) -> None:
    """Note after a ply, or at the start of a board, that a bot is to move."""
    if to_move(board, position) is None:
        return
    if rows.begin_turn(context.connection, board.id, board.game, context.now):
        context.effects.bot_turns.append((board.id, not position.apart))
