"""The house's move: what one of a game's bots does with what its seat may see."""

from __future__ import annotations

import hashlib

from pbmserv.engine.referee import Position
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat


def house_move(position: Position, seat: Seat, level: str) -> Move:
    """The move that the bot called *level* makes for a seat that may use a turn now.

    The same position gives the same move. Lots are drawn from a stream of their own, so that they
    tell nothing of those that the rules draw; it is numbered by the seat's turns, since the number
    of plies is not everybody's to know.

    Raises:
        MoveError: the bot has named what is no legal move.
    """
    game, state = position.game, position.state
    view = game.view(state, seat)
    stream = hashlib.sha256(b"house\0" + bytes([seat]) + position.seed).digest()
    text = game.bots[level].choose(view, Rng(stream, game.turn(state, seat)))
    return game.parse(view, text)
