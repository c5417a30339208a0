"""Finds games by entry point and keeps them by (key, rules_version); and games for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pbmserv.engine.adapter import adapted
from pbmserv.engine.protocol import Game, races
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import ServerFault

GROUP = "pbmserv.games"
_KEY = re.compile("[a-z][a-z0-9_]{0,29}")

AnyGame = Game[Any, Any, Any]
"""A game whose options, state and view the caller only passes along."""


@runtime_checkable
class Equipped(Protocol):
    """A game whose bots play better where something is installed."""

    def equipment(self) -> str:
        """With what bots think here, and if something is missing, what mends it: some words for
        operators."""
        ...


@runtime_checkable
class Readable(Protocol):
    """A game that programs can read.

    Attributes:
        facts_type: a frozen dataclass, all of it JSON-ready, whose docstring says what it means.
    """

    facts_type: type[Any]

    def facts(self, view: Any) -> Any:
        """What the reader of *view* sees: a function of the view alone, as everything is."""
        ...


class Registry:
    """The games this server knows.

    An entry point of the group ``pbmserv.games`` names a game object, or a
    sequence of them when old rules versions stay loadable.

    Attributes:
        titles: what people call the games, by key; the first is the one that newcomers are offered.
        bots: userids of their bots, by key.
        racing: keys of those that can be raced, and played alone.
    """

    def __init__(self, games: Iterable[AnyGame]) -> None:
        self._versions: dict[tuple[str, int], AnyGame] = {}
        self._newest: dict[str, AnyGame] = {}
        for game in map(adapted, games):
            key, version = game.info.key, game.info.rules_version
            if _KEY.fullmatch(key) is None:
                raise ServerFault(f"a game's key is a word of small letters, not {key!r}")
            if (key, version) in self._versions:
                raise ServerFault(f"two games call themselves {key!r} version {version}")
            self._versions[key, version] = game
            known = self._newest.get(key)
            if known is None or known.info.rules_version < version:
                self._newest[key] = game
        self.bots = {key: bots_of(game) for key, game in self._newest.items()}
        self.racing = frozenset(key for key, game in self._newest.items() if races(game))
        # First those with which somebody alone can begin, by a bot or by a race with nobody.
        keys = sorted(
            self._newest, key=lambda key: (not self.bots[key], key not in self.racing, key)
        )
        self._in_order = tuple(self._newest[key] for key in keys)
        self.titles = {key: self._newest[key].info.title for key in keys}

    @classmethod
    def installed(cls) -> Registry:
        """All games that installed packages announce."""
        found: list[AnyGame] = []
        owners: dict[str, EntryPoint] = {}
        for entry in sorted(announced(), key=_is_foreign):
            try:
                loaded = entry.load()
                games = loaded if isinstance(loaded, tuple | list) else [loaded]
                games = [adapted(game) for game in games]
                cls(games)  # what is wrong with these is told with their name
                for game in games:
                    _must_own(owners, game.info.key, entry)
            except (Exception, SystemExit) as error:
                told = f"{entry.name} = {entry.value}: {type(error).__name__}: {error}"
                raise ServerFault(f"a game cannot be loaded, {told}") from error
            found += games
        return cls(found)

    def __iter__(self) -> Iterator[AnyGame]:
        """The newest version of each game, in the order of `titles`."""
        return iter(self._in_order)

    def __contains__(self, key: str) -> bool:
        return key in self._newest

    def newest(self, key: str) -> AnyGame:
        """The version new boards are made with.

        Raises:
            KeyError: no such game.
        """
        return self._newest[key]

    def version(self, key: str, rules_version: int) -> AnyGame:
        """The version a board was made with.

        Raises:
            ServerFault: it is no longer installed; boards still need it.
        """
        try:
            return self._versions[key, rules_version]
        except KeyError:
            raise ServerFault(f"game {key!r} version {rules_version} is not installed") from None


def _is_foreign(entry: EntryPoint) -> bool:
    """Whether a game comes from a package of its own; our games keep their keys."""
    return _package_of(entry) != "pbmserv"


def _package_of(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]


def _must_own(owners: dict[str, EntryPoint], key: str, entry: EntryPoint) -> None:
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
    """What installed packages announce. To look takes 20 ms, and each stage of a server asks: they
    are forked from a process that has looked, and so all have the same games."""
    return tuple(entry_points(group=GROUP))


def template_folders() -> list[Path]:
    """The folders ``templates`` inside packages of their own that announce games."""
    packages = dict.fromkeys(entry.module.partition(".")[0] for entry in announced())
    found = [find_spec(package) for package in packages if package != "pbmserv"]
    places = [place for spec in found if spec for place in spec.submodule_search_locations or ()]
    return [folder for place in places if (folder := Path(place, "templates")).is_dir()]


def bots_of(game: AnyGame) -> tuple[str, ...]:
    """Userids of a game's bots, the weakest first."""
    return tuple([userid for userid in BOT_USERIDS if userid in game.bots])


@lru_cache(maxsize=1_000)  # every letter about a board names them
def shown_options(game: AnyGame, words: tuple[str, ...], seats: int) -> tuple[str, ...]:
    """A board's option words as everybody may read them: without what tells a hidden box.

    Nobody writes ``-race`` to play alone, though it is one.
    """
    shown = game.shown(game.options(words, seats)) if races(game) else words
    return tuple([word for word in shown if seats > 1 or word != "-race"])


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
