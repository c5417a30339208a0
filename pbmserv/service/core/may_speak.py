"""Why somebody may not speak: for a player, or at a board."""

from __future__ import annotations

from pbmserv.errors import Refused
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables import PlayerState


def not_seated(board: BoardRow) -> Refused:
    """The speaker has no seat at *board*."""
    return Refused(
        "not-your-board",
        part=str(board.id),
        players=", ".join(board.names),
        example=f"{board.game} show {board.id}",
    )


def wrong_game(board: BoardRow, game: str) -> Refused:
    """The command named another game than the board's."""
    return Refused(
        "wrong-game",
        part=game,
        board=board.id,
        game=board.game,
        example=f"{board.game} show {board.id}",
    )


def suspended(userid: str) -> Refused:
    """An operator has suspended the speaker's account."""
    return Refused("suspended", part=userid, example="help")


def signed_off(player: Player) -> Refused:
    """The speaker has left and has not come back, or an operator has suspended the account."""
    if player.state == PlayerState.BARRED:
        return suspended(player.userid)
    return Refused("signed-off", part=player.userid, example=f"back {player.userid} PASSWORD")


def too_many_passwords() -> Refused:
    """One mail brings more passwords than are looked at or hashed for one (`service.vetting`)."""
    return Refused("many-passwords")
