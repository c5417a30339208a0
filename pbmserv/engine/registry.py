"""The registry of the installed games."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pbmserv.engine.adapter import adapted
from pbmserv.engine.declaration import GAME_KEY, KEY_FORM
from pbmserv.engine.protocol import Game, races
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.table import BrokenRules
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import GameAway, ServerFault

GROUP = "pbmserv.games"
OURS = "pbmserv"
"""The package of the games that ship with the server."""

AnyGame = Game[Any, Any, Any]
"""A game whose options, states and views are opaque to the caller."""


class Titles(dict[str, str]):
    """The titles of the installed games by their keys; boards of others keep being listed."""

    def __missing__(self, key: str) -> str:
        return f"{key} (not installed)"


@dataclass(frozen=True, slots=True)
class FaultyMethod:
    """The method of a game in which an exception began.

    Attributes:
        game: the key of the game.
    """

    game: str
    method: str


class Registry:
    """The games of this server.

    An entry point of the group ``pbmserv.games`` names a game object, or a sequence of several
    versions if old ones remain playable.

    Attributes:
        titles: the titles of the games by key. Newcomers are offered the first one.
        bots: the userids of their bots by key.
        racing: the keys of games that can be raced and played alone.
        boxes: whether a game has boxes for one player; see `GameInfo.boxes`.
    """

    def __init__(self, games: Iterable[AnyGame]) -> None:
        self._versions: dict[tuple[str, int], AnyGame] = {}
        self._newest: dict[str, AnyGame] = {}
        for game in map(adapted, games):
            key, version = game.info.key, game.info.rules_version
            if GAME_KEY.fullmatch(key) is None:
                raise ServerFault(f"a game's key is {KEY_FORM}, not {key!r}")
            if (key, version) in self._versions:
                raise ServerFault(f"two games call themselves {key!r} version {version}")
            self._versions[key, version] = game
            newest = self._newest.get(key)
            if newest is None or newest.info.rules_version < version:
                self._newest[key] = game
        self.bots = {key: bots_of(game) for key, game in self._newest.items()}
        self.boxes = any(game.info.boxes for game in self._newest.values())
        self.racing = frozenset(key for key, game in self._newest.items() if races(game))
        # First the games that a player can begin alone, with a bot or a race of one.
        keys = sorted(
            self._newest, key=lambda key: (not self.bots[key], key not in self.racing, key)
        )
        self._in_order = tuple(self._newest[key] for key in keys)
        self.titles = Titles({key: self._newest[key].info.title for key in keys})

    @classmethod
    def installed(cls) -> Registry:
        """Return a registry of the games of all installed packages.

        Raises:
            ServerFault: a game cannot be loaded.
        """
        all_games: list[AnyGame] = []
        owners: dict[str, EntryPoint] = {}
        for entry in sorted(announced(), key=_is_foreign):
            try:
                loaded = entry.load()
                games = loaded if isinstance(loaded, tuple | list) else [loaded]
                games = [adapted(game) for game in games]
                cls(games)  # check these games, so that the error names their entry
                for game in games:
                    _check_owner(owners, game.info.key, entry)
            except (Exception, SystemExit) as error:
                reason = f"{entry.name} = {entry.value}: {type(error).__name__}: {error}"
                raise ServerFault(f"a game cannot be loaded, {reason}") from error
            all_games += games
        return cls(all_games)

    def __iter__(self) -> Iterator[AnyGame]:
        """Yield the newest version of each game, in the order of `titles`."""
        return iter(self._in_order)

    def __contains__(self, key: str) -> bool:
        return key in self._newest

    def newest(self, key: str) -> AnyGame:
        """Return the version of a game for new boards.

        Raises:
            KeyError: there is no such game.
        """
        return self._newest[key]

    def version(self, key: str, rules_version: int) -> AnyGame:
        """Return the version of a game with which a board was made.

        Raises:
            GameAway: the version is no longer installed.
        """
        try:
            return self._versions[key, rules_version]
        except KeyError:
            raise GameAway(key, is_stopped=False) from None

    def has(self, key: str, rules_version: int) -> bool:
        """Return whether this version of a game is installed."""
        return (key, rules_version) in self._versions

    def package_of(self, key: str) -> str:
        """Return the package that a game comes from; ``""`` if it is not installed."""
        game = self._newest.get(key)
        return "" if game is None else _module_of(game).partition(".")[0]

    def packages(self) -> tuple[str, ...]:
        """Return the packages of installed games beside our own, in alphabetical order."""
        return tuple(sorted({self.package_of(key) for key in self._newest} - {OURS}))

    def games_of_file(self, file: str) -> tuple[str, ...]:
        """Return the keys of the games to which a source file belongs: nearly always one.

        A file of several games in one package belongs to the one that it defines, or else to all.
        """
        places = {key: _source_of(game) for key, game in self._newest.items()}
        path = Path(file)
        exact = [key for key, (module, _) in places.items() if path == module]
        return tuple(exact or [key for key, (_, root) in places.items() if root in path.parents])

    def faulty_method(self, error: BaseException) -> FaultyMethod | None:
        """Return the method that raised an exception or returned an impossible value.

        Of several methods of a game, this is the one that the server called. `None`: no game had
        a part in it.
        """
        if isinstance(error, BrokenRules):
            return FaultyMethod(error.key, error.method)
        for frame in traceback.extract_tb(error.__traceback__):
            if games := self.games_of_file(frame.filename):
                return FaultyMethod(games[0], frame.name)
        return None


def _module_of(game: AnyGame) -> str:
    """Return the name of the module in which the rules of a game are."""
    return type(getattr(game, "rules", game)).__module__


def _source_of(game: AnyGame) -> tuple[Path, Path]:
    """Return the file with the rules of a game, and the folder of all files that are its own."""
    name = _module_of(game)
    file = Path(getattr(sys.modules.get(name), "__file__", None) or "/nowhere")
    package = ".".join(name.split(".")[:3]) if name.startswith("pbmserv.games.") else name
    package = package if package.startswith("pbmserv.") else package.partition(".")[0]
    folders = getattr(sys.modules.get(package), "__path__", ())
    return file, Path(next(iter(folders), file))


def _is_foreign(entry: EntryPoint) -> bool:
    """Return whether a game comes from a package of its own; our games keep their keys."""
    return _package_of(entry) != OURS


def _package_of(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]


def _check_owner(owners: dict[str, EntryPoint], key: str, entry: EntryPoint) -> None:
    """Refuse a key that belongs to another package.

    Raises:
        ServerFault: names both packages.
    """
    owner = owners.setdefault(key, entry)
    if _package_of(owner) != _package_of(entry):
        raise ServerFault(
            f"the package {_package_of(owner)} has a game with the key {key!r} already; "
            f"give the game of {_package_of(entry)} another one"
        )


@cache
def announced() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages.

    They are cached, since the search takes 20 ms. All processes of a server are forked from one
    that has searched, so that they have the same games.
    """
    return tuple(entry_points(group=GROUP))


def template_folders() -> list[Path]:
    """Return the folders ``templates`` of other packages with games."""
    packages = dict.fromkeys(entry.module.partition(".")[0] for entry in announced())
    specs = [find_spec(package) for package in packages if package != "pbmserv"]
    roots = [root for spec in specs if spec for root in spec.submodule_search_locations or ()]
    return [folder for root in roots if (folder := Path(root, "templates")).is_dir()]


def bots_of(game: AnyGame) -> tuple[str, ...]:
    """Return the userids of a game's bots, the weakest first."""
    return tuple([userid for userid in BOT_USERIDS if userid in game.bots])


@lru_cache(maxsize=1_000)  # each letter about a board shows them
def shown_options(game: AnyGame, words: tuple[str, ...], seats: int) -> tuple[str, ...]:
    """Return the option words of a board without those that tell a hidden box.

    ``-race`` is left out for one player, since nobody writes it to play alone.
    """
    shown = game.shown(game.options(words, seats)) if races(game) else words
    hidden = {DUPLICATE} if seats > 1 else {"-race"}
    return tuple([word for word in shown if word not in hidden])


def check_agreement(game: AnyGame, level: str, words: Sequence[str], seats: int) -> None:
    """Check that a bot plays a board with these option words.

    The bot gets the public options, without words that tell a hidden box.

    Raises:
        OptionError: the bot does not agree, or the game does not have these options.
    """
    options = game.options(words, seats)
    if races(game):
        options = game.options(game.shown(options), seats)
    game.bots[level].agree(options)
