"""A new package with a small game, for its author to change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.engine.declaration import GAME_KEY, KEY_FORM
from pbmserv.engine.registry import Registry
from pbmserv.errors import OperatorError

_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "pbm-{key}"
version = "0.1.0"
description = "{title}, a game for pbmserv."
requires-python = ">=3.11"
# It needs pbmserv, which is no dependency here: an index may have another project of that name.

[project.entry-points."pbmserv.games"]
{key} = "pbm_{key}:GAME"

[tool.hatch.build.targets.wheel]
packages = ["pbm_{key}"]
"""

_GAME = '''\
"""{title}, a game for pbmserv: see docs/games.md of pbmserv."""

from pbmserv.game import Game, Items, levels, win


class {name}(Game[tuple[int, int]]):
    """Take one to three of the stones; the last stone wins.

    There are {stones} stones. Take turns to take one, two or three of them. The player who takes
    the last stone wins.
    """

    key, title = "{key}", "{title}"
    draws = False
    bots = levels(lambda: GAME)

    def start(self, seats, options, rng):
        return {stones}, 1  # the stones that are left, and the seat that took some last

    def moves(self, state, seat):
        return [str(count) for count in (1, 2, 3) if count <= state[0]]

    def play(self, state, seat, move, rng):
        return state[0] - int(move), seat

    def over(self, state):
        return win(state[1], "the last stone") if state[0] == 0 else None

    def show(self, state, seat):
        return Items("Stones", ["*"] * state[0])


GAME = {name}()
'''

_TEST = """\
from pbmserv.testing import check_game

from pbm_{key} import GAME


def test_the_game_keeps_the_contract():
    assert check_game(GAME).listed == []
"""

_README = """\
# {title} for pbmserv

    pip install -e .
    pbmserv game check {key}
    pbmserv game try {key}

To give it to a server, run `pip wheel --no-deps .` and, with the pip of that server's environment,
`pip install --no-index ./pbm_{key}-0.1.0-py3-none-any.whl`. Then restart the server:
`{key} challenge YOU FRIEND` begins a board.
"""


def write_package(folder: Path, key: str) -> Iterator[Path]:
    """Write the files of a package, and yield their paths.

    Raises:
        OperatorError: the key has a wrong form or belongs to a command or an installed game, or the
            folder exists.
    """
    if GAME_KEY.fullmatch(key) is None:
        raise OperatorError(f"a game's key is {KEY_FORM}, not {key!r}")
    if key in BY_NAME:
        raise OperatorError(f"a command is called {key}; give your game another key")
    if key in Registry.installed():
        raise OperatorError(f"a game {key} is installed already; give yours another key")
    if folder.exists():
        raise OperatorError(f"there is a folder {folder} already")
    title = key.replace("_", " ").capitalize()
    name = "".join(part.capitalize() for part in key.split("_"))
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"pbm_{key}/__init__.py": _GAME,
        "tests/test_game.py": _TEST,
    }
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(key=key, title=title, name=name, stones=21), "utf-8")
        yield file
