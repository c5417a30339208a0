"""The names that the author of a game imports.

A game is one class, a subclass of `Game`; its docstring explains the rules to players. An object of
it is announced by an entry point of the group ``pbmserv.games``. docs/games.md leads through it.
"""

from pbmserv.game.api import (
    LETTERS,
    X_AND_O,
    After,
    Bot,
    Game,
    Grid,
    Items,
    No,
    Option,
    Part,
    Piece,
    Result,
    Rng,
    Seat,
    Told,
    draw,
    ranked,
    win,
)
from pbmserv.game.search import Effort, alpha_beta, levels, monte_carlo

__all__ = [
    "LETTERS",
    "X_AND_O",
    "After",
    "Bot",
    "Effort",
    "Game",
    "Grid",
    "Items",
    "No",
    "Option",
    "Part",
    "Piece",
    "Result",
    "Rng",
    "Seat",
    "Told",
    "alpha_beta",
    "draw",
    "levels",
    "monte_carlo",
    "ranked",
    "win",
]
