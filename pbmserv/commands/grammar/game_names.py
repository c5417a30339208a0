"""Finds games by the names that people type: a key, or a title in any spelling.

"ttt", "Tic-tac-toe", "tictactoe" and "tic tac toe" name the same game.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from pbmserv.commands.table.catalogue import BY_NAME, BY_SYNONYM, IN_REPLY
from pbmserv.commands.table.spelling import nearest_name

GameTitles = Mapping[str, str]
"""The titles of the games of a server by their keys."""

_BETWEEN = re.compile(r"\W+")


def game_in_front(words: Iterable[str], games: GameTitles) -> tuple[str, int]:
    """Return the game that the first words name, and how many do; ``("", 0)`` if there is none."""
    names = _names(tuple(games.items()))
    longest = max(map(len, names), default=0)
    name, game = "", ("", 0)
    for count, word in enumerate(map(plain_name, words), start=1):
        name += word
        if not word or len(name) > longest:
            break
        if name in names:
            game = names[name], count
        if len(name) == 1:  # "g o" is not Go
            break
    return game


_BEFORE_GAMES = frozenset({"play", "of", "about"})


def game_in_sentence(words: Sequence[str], games: GameTitles) -> str:
    """Return the game of a sentence such as "How do I play Hex?", ``""`` if there is none.

    "Where do I go?" names none.
    """
    found = (
        game_in_front(words[at:], games)[0]
        for at, before in enumerate(words, start=1)
        if before.lower() in _BEFORE_GAMES
    )
    return next(filter(None, found), "")


def with_keys(words: Sequence[str], games: GameTitles) -> list[str]:
    """Return words with the key of a game in place of each name of one."""
    replaced: list[str] = []
    at = 0
    while at < len(words):
        game, count = game_in_front(words[at:], games)
        replaced.append(game or words[at])
        at += count or 1
    return replaced


def nearest_game(word: str, games: GameTitles) -> str:
    """Return the game whose name a word may misspell, ``""`` if there is none."""
    names = _names(tuple(games.items()))
    return names.get(nearest_name(plain_name(word), names) or "", "")


def plain_name(name: str) -> str:
    """Return a name in lower case, without blanks, hyphens and apostrophes."""
    return _BETWEEN.sub("", name.lower())


@lru_cache(maxsize=16)
def _names(games: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return the keys of games by their names. A title that could mean something else is none."""
    titles = [(title, key) for key, title in games if not _is_command(title)]
    counts = Counter(plain_name(title) for title, _ in titles)
    names = {plain_name(title): key for title, key in titles if counts[plain_name(title)] == 1}
    return names | {key: key for key, _ in games}


def _is_command(title: str) -> bool:
    """Return whether a title, or its first word, is also the name of a command."""
    words = title.lower().split()
    return any(
        name in commands
        for name in (*words[:1], plain_name(title))
        for commands in (BY_NAME, BY_SYNONYM, IN_REPLY)
    )
