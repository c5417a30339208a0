"""Refusals that several commands share."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.errors import Refused
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.accounts import PlayerState


def not_seated(board: BoardRow) -> Refused:
    """Return the refusal for a speaker who has no seat at a board."""
    return Refused(
        "not-your-board",
        part=str(board.id),
        players=", ".join(board.names),
        example=f"{board.game} show {board.id}",
    )


def wrong_game(board: BoardRow, game: str) -> Refused:
    """Return the refusal for a command that names another game than the board's."""
    return Refused(
        "wrong-game",
        part=game,
        board=board.id,
        game=board.game,
        example=f"{board.game} show {board.id}",
    )


def suspended(userid: str) -> Refused:
    """Return the refusal for a player whose account an operator has suspended."""
    return Refused("suspended", part=userid, example="help")


def signed_off(player: Player | Sitter) -> Refused:
    """Return the refusal for a player who has signed off, is suspended or has no account."""
    if player.state == PlayerState.BARRED:
        return suspended(player.userid)
    if player.state == PlayerState.DELETED:
        return Refused("account-deleted", example="help")
    return Refused("signed-off", part=player.userid, example=f"back {player.userid} PASSWORD")


def too_many_passwords() -> Refused:
    """Return the refusal for a mail with more passwords than are compared or hashed for one."""
    return Refused("many-passwords")


def unknown_speaker(game: str) -> Refused:
    """Return the refusal for a mail that does not say, or does not prove, who writes.

    Args:
        game: the game of the example.
    """
    return Refused("who-are-you", example=f"{game} move 12 USERID PASSWORD MOVE")


def name_yourself(players: Sequence[Player]) -> Refused:
    """Return the refusal for a mail from the address of several players that names none."""
    return Refused("which-of-you", userids=", ".join(player.userid for player in players))
