"""Deeds of operators about games: close one to new boards, open it, let a stopped one go on."""

from __future__ import annotations

from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store.boards import closed_games, game_pauses
from pbmserv.store.delivery import letter_claims
from pbmserv.store.tables.downtime import PauseKind


def close_game(context: CommandContext, _: Signature, game: str) -> Deed:
    """Close a game: no new boards are created; running ones go on.

    Raises:
        OperatorError: there is no such game, or it is closed already.
    """
    game = game_key(context, game)
    if closed_games.is_closed(context.connection, game):
        raise OperatorError(f"{game} is closed already")
    closed_games.close(context.connection, game, context.now)
    return Deed("suspend", f"game {game}", f"From now on nobody can begin a board of {game}.")


def open_game(context: CommandContext, _: Signature, game: str) -> Deed:
    """Open a closed game again.

    Raises:
        OperatorError: there is no such game, or it is not closed.
    """
    game = game_key(context, game)
    if not closed_games.is_closed(context.connection, game):
        raise OperatorError(f"{game} is not closed")
    closed_games.reopen(context.connection, game)
    return Deed("restore", f"game {game}", f"Players can begin boards of {game} again.")


def resume_game(context: CommandContext, _: Signature, game: str) -> Deed:
    """Let a stopped game go on: its mails and letters wait no longer.

    Raises:
        OperatorError: it is not stopped.
    """
    key = game.strip().lower()
    if not game_pauses.end(context.connection, key, PauseKind.STOPPED, context.now):
        stopped = sorted(game_pauses.stopped(context.connection))
        others = f"; stopped: {', '.join(stopped)}" if stopped else ""
        raise OperatorError(f"{key} is not stopped{others}")
    letters = letter_claims.wake_waiting(context.connection, key, context.now)
    sent = counted(letters, "letter is", "letters are")
    summary = (
        f"{key} goes on. Waiting mails are carried out now, and {sent} sent. If it hangs again, it "
        "is stopped again; `pbmserv inbox list` shows the mails over which the server was stopped."
    )
    return Deed("resume", f"game {key}", summary)


def game_key(context: CommandContext, name: str) -> str:
    """Return the key of a game; upper and lower case do not matter.

    Raises:
        OperatorError: there is no game of this name.
    """
    key = name.strip().lower()
    if key not in context.services.registry:
        names = ", ".join(game.info.key for game in context.services.registry)
        raise OperatorError(f"there is no game {name}; there are: {names}")
    return key
