"""Filters with which pages of help name games, and show their rules and moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pbmserv.engine.adapter import adapted_games


def rules_of(key: str) -> list[str]:
    """Return paragraphs: the rules that a game's docstring explains, then those of the server."""
    game = adapted_games[key]
    paragraphs = game.rules_text.strip("\n").split("\n\n")
    return [*filter(str.strip, paragraphs), *game.server_rules]


def sample_game(keys: Sequence[str]) -> str:
    """Return the game whose words a page of help shows; ``""`` if there is none.

    A game with words of its own is preferred to one for which the server makes them.
    """
    return next((key for key in keys if key not in adapted_games), next(iter(keys), ""))


def with_chance(keys: Sequence[str]) -> list[str]:
    """Return the games with dice or deals, which can be those of duplicate events."""
    return [key for key in keys if key in adapted_games and adapted_games[key].has_chance]


def sample_moves(key: str) -> Sequence[str]:
    """Return three moves of a game for pages of help."""
    return adapted_games[key].sample_moves


HELP_FILTERS: Mapping[str, Callable[..., Any]] = {
    filter_.__name__: filter_ for filter_ in (rules_of, sample_game, sample_moves, with_chance)
}
