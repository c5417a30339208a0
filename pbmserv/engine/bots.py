"""The house: what one of a game's bots says and does with what its seat may see, and no more."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pbmserv.engine.protocol import races
from pbmserv.engine.referee import Position
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat


def must_agree(game: AnyGame, level: str, words: Sequence[str], seats: int) -> None:
    """Ask the bot called *level* whether it plays a board with these option words.

    It is handed what everybody may read of them: words that tell a hidden box are taken out first.

    Raises:
        OptionError: it does not, or the words are none of this game's.
    """
    options = game.options(words, seats)
    if races(game):
        options = game.options(game.shown(options), seats)
    game.bots[level].agree(options)


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
