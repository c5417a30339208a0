"""``pbmserv game new``, ``check`` and ``try``: for authors of games."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pbmserv.cli.output import complain, harmless, say
from pbmserv.errors import OperatorError, ServerFault
from pbmserv.plurals import counted

if TYPE_CHECKING:
    from pbmserv.testing.check import Progress

PROGRESS_S = 10.0
"""Seconds after which a check says how far it has come."""

Rules: TypeAlias = Annotated[
    str, typer.Argument(metavar="GAME", help="A game's key, a file, or MODULE:NAME.")
]


def new(
    key: Annotated[str, typer.Argument(help="The game's word in commands: small letters.")],
) -> None:
    """Write a package with a small game in it, to begin your own with.

    Example: pbmserv game new nim
    """
    from pbmserv.testing.package import write_package

    folder = Path(f"pbm-{key}")
    for path in write_package(folder, key):
        say(str(path))
    say(f"Next: pip install -e ./{folder}, then `pbmserv game check {key}`.")


def check(
    game: Rules,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Random games to play.")] = 12,
) -> None:
    """Play a game in every way that the server would; exit code 1 if something is wrong.

    Example: pbmserv game check nim
    Example: pbmserv game check ./nim.py --seeds 50
    """
    from pbmserv.cli.game_replays import first_difference
    from pbmserv.testing import check_game
    from pbmserv.testing.findings import playing_method

    rules = rules_of(game)
    report = check_game(rules, seeds, progress_printer())
    number = None if report.findings else first_difference(game, report.played)
    if number is not None:
        report.add(
            playing_method(rules) if number else "start",
            "gives another state in another process; draw from rng alone, and sort a set before "
            "its order matters",
        )
    for finding in report.listed:
        complain(str(finding))
    played = f"{counted(report.games, 'game')}, {counted(report.moves, 'move')}"
    per_move = f"slowest move {1000 * report.slowest:.0f} ms, largest state {report.largest} octets"
    say(f"{report.key}: {played}, {per_move}.")
    if owner := _other_owner(rules):
        say(f"Note: the key {report.key} belongs to {owner}, which is installed. A server with")
        say("both does not start: choose another key, or let your game replace that one.")
    if report.listed:
        raise typer.Exit(1)
    say("Nothing is wrong.")


def play(
    game: Rules,
    options: Annotated[list[str] | None, typer.Argument(help="Options, such as -size=9.")] = None,
    bot: Annotated[str, typer.Option(help="The bot to play against; its strongest if empty.")] = "",
    seed: Annotated[str, typer.Option(help="Of dice and other chance.")] = "",
    seats: Annotated[int, typer.Option(help="Players, with you; 0: as few as possible.")] = 0,
) -> None:
    """Play a game in the terminal against its bot.

    Example: pbmserv game try nim
    Example: pbmserv game try go -size=13 --bot house-easy
    Example: pbmserv game try liar --seats 4
    """
    from pbmserv.testing.terminal import play_in_terminal

    chance = seed.encode() if seed else os.urandom(16)
    play_in_terminal(rules_of(game), tuple(options or ()), bot, chance, seats)


def progress_printer() -> Callable[[Progress], None]:
    """Return a function that prints the progress of a check on stderr, every few seconds."""
    stderr = sys.stderr  # a check redirects it, because rules must not print
    last = monotonic()

    def note(progress: Progress) -> None:
        nonlocal last
        if monotonic() - last < PROGRESS_S:
            return
        last = monotonic()
        game = f"game {progress.games} of {progress.all_games}{progress.where}"
        typer.echo(harmless(f"Playing {game}, move {progress.moves} ..."), file=stderr)

    return note


def rules_of(name: str) -> Any:
    """Return the game that a key, a file or ``module:name`` means.

    Raises:
        OperatorError: there is none.
    """
    from pbmserv.game import Game

    if name.endswith(".py"):
        game = _game_in_file(Path(name))
    elif ":" in name:
        module, _, attribute = name.partition(":")
        try:
            game = getattr(import_module(module), attribute)
        except (Exception, SystemExit) as error:
            raise OperatorError(f"{name} cannot be loaded: {error}") from error
    else:
        game = _installed(name)
    if isinstance(game, type) and issubclass(game, Game):
        raise OperatorError(f"GAME of {name} is a class; write GAME = {game.__name__}()")
    if not isinstance(game, Game):
        raise OperatorError(f"{name} is not an object of a class below pbmserv.game.Game")
    return game


def _game_in_file(path: Path) -> Any:
    """Return the game of a file.

    Raises:
        OperatorError: there is none, or the file cannot be run; names the line.
    """
    spec = spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None or not path.is_file():
        raise OperatorError(f"there is no file {path}")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise OperatorError(f"{path}, line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if Path(f.filename) == path.resolve()), 0)
        where = f"{path}, line {line}" if line else str(path)
        raise OperatorError(f"{where}: {type(error).__name__}: {error}") from error
    versions = getattr(module, "GAMES", None)
    if not hasattr(module, "GAME") and isinstance(versions, tuple | list) and versions:
        return max(versions, key=lambda rules: getattr(rules, "version", 0))
    if not hasattr(module, "GAME"):
        raise OperatorError(f"{path} has no GAME; write a line such as GAME = MyGame() at its end")
    return module.GAME


def _other_owner(rules: Any) -> str:
    """Return the module of an installed game with the key of these rules, if it is another game.

    A game is the same one if it is in the same file, whatever the name of its module.
    """
    from pbmserv.engine.registry import Registry

    try:
        games = Registry.installed()
    except ServerFault:  # it is the server that must say so
        return ""
    if rules.key not in games:
        return ""
    installed = games.newest(rules.key)
    owner = type(getattr(installed, "rules", installed)).__module__
    return "" if _file_of_module(owner) == _file_of_module(type(rules).__module__) else owner


def _file_of_module(module: str) -> Path:
    """Return the file of an imported module, or a path that does not exist."""
    return Path(
        getattr(sys.modules.get(module), "__file__", None) or f"/nowhere/{module}"
    ).resolve()


def _installed(key: str) -> Any:
    from pbmserv.engine.adapter import AdaptedGame
    from pbmserv.engine.registry import Registry

    games = Registry.installed()
    if key not in games and Path(key).is_dir():
        raise OperatorError(f"{key} is a folder; name the file in it that has GAME")
    if key not in games:
        keys = ", ".join(game.info.key for game in games)
        raise OperatorError(f"no installed game is called {key}; there are {keys}")
    game = games.newest(key)
    if not isinstance(game, AdaptedGame):
        raise OperatorError(
            f"{key} is built on pbmserv.engine, and this command is for games of pbmserv.game; "
            f"to check {key}, run in a clone: .venv/bin/pytest tests/contract -k {key}"
        )
    return game.rules
