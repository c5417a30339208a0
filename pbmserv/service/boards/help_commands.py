"""``help`` and ``list``: pages of help, and the games that are played here."""

from __future__ import annotations

from pbmserv.commands.table.looking import Help, ListGames
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import game_of_letter, known_game
from pbmserv.service.core.outcome import Answer, Part


def help_on(context: CommandContext, command: Help) -> Answer:
    """Answer ``help [subject…]``."""
    subjects = command.subjects
    if subjects[:1] in _ABOUT_THE_GAME:
        subjects = _of_game(context, subjects)
    return Answer((Part("help", {"subjects": list(subjects)}),))


_ABOUT_THE_GAME = {("sign",), ("rules",), ("tutorial",)}
"""First subjects that mean the game of the answered letter, if that is about a board."""


def _of_game(context: CommandContext, subjects: tuple[str, ...]) -> tuple[str, ...]:
    """Return subjects about the signs or rules of a game, or the tutorial.

    The tutorial teaches the usual game; players of another one get its rules.
    """
    game = game_of_letter(context)
    match subjects:
        case ("sign", *names) if context.answered_board is not None:
            return ("sign", game, *names)
        case ("rules",):
            return (game,)
        case ("tutorial",) if game != context.usual_game:
            return (game,)
    return subjects


def list_games(context: CommandContext, command: ListGames) -> Answer:
    """Answer ``list [game…]``."""
    wanted = [known_game(context, key) for key in command.games] or context.services.registry
    return Answer((Part("list", {"games": [game.info.key for game in wanted]}),))
