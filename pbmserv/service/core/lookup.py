"""Finds the games, boards and players that a command names."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.commands.table.command_types import Credentials
from pbmserv.commands.table.spelling import nearest_name
from pbmserv.engine.protocol import RacingGame, races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import GameAway, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.refusals import wrong_game
from pbmserv.store import bots
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, closed_games, game_pauses
from pbmserv.store.boards.boards import BoardRow, Sitter


def known_game(context: CommandContext, key: str) -> AnyGame:
    """Return the newest version of a game.

    Raises:
        Refused: it is not played here.
    """
    registry = context.services.registry
    if key not in registry:
        keys = ", ".join(registry.titles)
        raise Refused("unknown-game", part=key, games=keys, suggestion="")
    return registry.newest(key)


def game_of_letter(context: CommandContext) -> str:
    """Return the game of the board that the answered letter is about, else the usual game."""
    if context.answered_board is not None:
        board = boards.load(context.connection, context.answered_board)
        if board is not None and board.game in context.services.registry:
            return board.game
    return context.usual_game


def refuse_closed_game(context: CommandContext, game: AnyGame) -> None:
    """Refuse a new board of a game that an operator has closed, or that is stopped."""
    try:
        game_pauses.check_is_running(context.connection, game.info.key)
    except GameAway as away:
        raise game_away_refusal(context, away) from away
    if closed_games.is_closed(context.connection, game.info.key):
        raise Refused("game-closed", part=game.info.title, example="list")


def game_away_refusal(context: CommandContext, away: GameAway) -> Refused:
    """Return the refusal of a command about a board whose game cannot be played now."""
    code = "game-stopped" if away.is_stopped else "game-gone"
    return Refused(code, part=context.services.registry.titles[away.game], example="list")


def userids_in(words: Sequence[str]) -> list[str]:
    """Return the userids in a list of words, perhaps with commas, each once."""
    return list(dict.fromkeys(filter(None, (word.lower().strip(",;") for word in words))))


def games_of(context: CommandContext, key: str | None) -> list[AnyGame]:
    """Return the named game, or all games if none is named."""
    return list(context.services.registry) if key is None else [known_game(context, key)]


def games_asked_about(context: CommandContext, key: str | None) -> list[AnyGame]:
    """Return the named game, else that of the board whose letter is answered, else all games."""
    if key is None and context.answered_board is not None:
        key = game_of_letter(context)
    return games_of(context, key)


def races_of(context: CommandContext, key: str | None) -> list[RacingGame]:
    """Return the named game, or all games, if it can be played as a race."""
    return [game for game in games_of(context, key) if races(game)]


def races_asked_about(context: CommandContext, key: str | None) -> list[RacingGame]:
    """Return the games of `games_asked_about` that can be races; if none is named, never none."""
    asked = [game for game in games_asked_about(context, key) if races(game)]
    return asked or races_of(context, key)


def board_of(context: CommandContext, board_id: int, game: str | None) -> BoardRow:
    """Return a board, without a lock.

    Raises:
        Refused: it does not exist, or the command names another game.
    """
    context.budget.spend(Work.BOARD)
    board = boards.load(context.connection, board_id)
    if board is None:
        raise Refused("no-such-board", part=str(board_id), example="games USERID")
    if game is not None and board.game != game:
        raise wrong_game(board, game)
    return board


def board_named_or_answered(
    context: CommandContext, board_id: int | None, game: str | None, command: str
) -> BoardRow:
    """Return the board that a command names, else that of the letter which the mail answers.

    A player's letter about a board will do, and so will a follower's.

    Args:
        command: the command's name, for the example in a refusal.

    Raises:
        Refused: neither names a board; or see `board_of`.
    """
    if board_id is None:
        address = context.reply_address
        if address is None or address.purpose not in {Purpose.BOARD, Purpose.FOLLOW}:
            raise Refused("which-board", example=f"{game or context.usual_game} {command} 12")
        board_id = address.about
    return board_of(context, board_id, game)


def own_sitter(
    context: CommandContext, board: BoardRow, credentials: Credentials | None
) -> Sitter | None:
    """Return the seat of the mail's proven writer at a board; `None` if the writer has none.

    With a seat, the answer goes to that player's own address.
    """
    for player in context.writers(credentials):
        sitter = board.sitter_of(player.id)
        if sitter is not None:
            context.current.speaker = player
            return sitter
    return None


def players_of(context: CommandContext, userids: Sequence[str]) -> list[Player]:
    """Return the players with these userids.

    Raises:
        Refused: one is unknown. Behind a userid, even a misspelt one, the word may be a password
            (``show alice secret``), so the refusal does not repeat it.
    """
    named_players: list[Player] = []
    for userid in dict.fromkeys(userids):
        context.budget.spend(Work.NAME)
        player = shown_player(context, userid)
        if player is None:
            if named_players:
                context.current.echo_hidden = True
                raise Refused("no-such-player", place=len(named_players) + 1)
            for behind in userids[userids.index(userid) + 1 :]:
                context.budget.spend(Work.NAME)
                if not is_player(context, behind):
                    context.current.echo_hidden = True
                    break
            raise unknown_player(context, userid)
        named_players.append(player)
    return named_players


def active_player(context: CommandContext, userid: str) -> Player:
    """Return the active player with this userid.

    Raises:
        Refused: there is none.
    """
    player = players.active_by_userid(context.connection, userid)
    if player is None:
        raise unknown_player(context, userid)
    return player


def unknown_player(context: CommandContext, userid: str) -> Refused:
    """Return the refusal for a userid that does not exist."""
    # Everybody can read the names of players at boards.
    near = players.seated_like(context.connection, userid) if len(userid) > 1 else []
    suggestion = nearest_name(userid.lower(), near) or ""
    return Refused("no-such-player", part=userid, suggestion=suggestion)


def is_player(context: CommandContext, word: str) -> bool:
    """Return whether a word in lower case is the userid of an active player or a bot."""
    return word in BOT_USERIDS or players.active_by_userid(context.connection, word) is not None


def shown_player(context: CommandContext, userid: str) -> Player | None:
    """Return an active player or a bot, whose boards can be shown."""
    player = players.active_by_userid(context.connection, userid)
    if player is None and userid in BOT_USERIDS:
        return bots.shown_account(context.connection, userid)
    return player
