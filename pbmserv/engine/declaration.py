"""Checks the attributes that the class of a `pbmserv.game.Game` declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pbmserv.engine.game_options import SERVER_OPTIONS
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.game import Game, Option

LONGEST_TITLE = 40
_OPTION = re.compile(r"[a-z][a-z0-9-]{0,19}")


def check_declaration(rules: Game[Any]) -> None:
    """Refuse a game whose class declares an impossible value.

    Raises:
        ValueError: names the attribute.
    """
    name = type(rules).__name__
    for attribute in ("key", "title"):
        if not isinstance(getattr(rules, attribute, None), str) or not getattr(rules, attribute):
            raise ValueError(f"{name}.{attribute} must be a text")
    if not (type(rules).__doc__ or "").strip():
        raise ValueError(f"{name} has no docstring; it explains the rules to players")
    if len(rules.title) > LONGEST_TITLE or not rules.title.isprintable():
        raise ValueError(f"{name}.title must be one line of at most {LONGEST_TITLE} characters")
    least, most = rules.seats
    if not 1 <= least <= most <= 8:
        raise ValueError(f"{name}.seats = {rules.seats}: there are 1 to 8 players")
    if rules.swap and rules.seats != (2, 2):
        raise ValueError(f"{name}.swap needs two players")
    for userid in rules.bots:
        if userid not in BOT_USERIDS:
            raise ValueError(f"{name}.bots: {userid!r} is not one of {', '.join(BOT_USERIDS)}")
        if not callable(rules.bots[userid]):
            raise ValueError(f"{name}.bots: {userid!r} must be a function")
    _check_options(name, rules.options)


def _check_options(name: str, options: Sequence[Option]) -> None:
    names = [option.name for option in options]
    for option in options:
        is_own = option.name not in SERVER_OPTIONS
        if not (_OPTION.fullmatch(option.name) and is_own) or names.count(option.name) > 1:
            raise ValueError(f"{name}.options: {option.name!r} is not a word of its own")
        if option.default not in option.values:
            raise ValueError(f"{name}.options: {option.name} has the default {option.default!r}")
