"""Random Blackbox moves such as players send, right and wrong ones."""

from __future__ import annotations

import random

from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.views import View

WRONG = ("zz", "?,?", "1,2", "a1", "+a99", "+b2 +c3", "a,,b", "good luck!", "!9-1", "99")


def some_options(dice: random.Random) -> str:
    """Return the options of a challenge as a player writes them."""
    width, height = (dice.choice((2, 3, 5, 7, 7, 8, 13, 21, 22, 26)) for _ in range(2))
    most = min(width * height, dice.choice((1, 3, 4, 7, 40)))
    least = dice.randint(1, most)
    words = [f"-size={width}x{height}", f"-atoms={least}-{most}", f"-guesses={dice.randint(1, 4)}"]
    words += [word for word in ("-fair", "-clue", "-unrated") if dice.random() < 0.4]
    return " ".join(words)


def some_placement(options: Options, dice: random.Random) -> str:
    """Return cells to hide atoms in."""
    count = dice.randint(options.least, options.most)
    return ",".join(map(options.board.name, dice.sample(options.board.cells, count)))


def some_move(view: View, dice: random.Random, wrong: float = 0.15) -> str:
    """Return a move for the player of *view*; about the share *wrong* of them is refused."""
    if dice.random() < wrong:
        return dice.choice(WRONG)
    if not view.has_hidden:
        return some_placement(view.options, dice)
    own = view.own
    assert own is not None
    board = view.options.board
    elements = [
        dice.choice("++/!") + board.name(dice.choice(board.cells))
        for _ in range(dice.randint(0, 2))
    ]
    if dice.random() < 0.15:
        elements.append("!" + dice.choice(board.top + board.left).lower())
    if view.may_act and (not elements or dice.random() < 0.8):
        turn = view.examples.guess if dice.random() < 0.12 else dice.choice(board.ports)
        elements = [turn] if "?" in turn else [*elements, turn.lower()]
    return ",".join(elements) or "+" + board.name(0)
