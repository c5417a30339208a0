"""``help`` and ``list``: pages of help, and the games that are played here."""

from __future__ import annotations

from pbmserv.commands.table.looking import Help, ListGames
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Answer, Part


def help_on(context: CommandContext, command: Help) -> Answer:
    """Answer ``help [subject…]``. A sign is one of the game of the answered letter."""
    subjects = command.subjects
    if context.answers_board_letter and subjects[:1] == ("sign",):
        board, _ = context.seat_at(None, None, None)
        subjects = ("sign", board.game, *subjects[1:])
    return Answer((Part("help", {"subjects": list(subjects)}),))


def list_games(context: CommandContext, command: ListGames) -> Answer:
    """Answer ``list [game…]``."""
    wanted = [known_game(context, key) for key in command.games] or context.services.registry
    return Answer((Part("list", {"games": [game.info.key for game in wanted]}),))
