"""Checks the attributes that the class of a `pbmserv.game.Game` declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pbmserv.engine.game_options import SERVER_OPTIONS
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.game import Game, Option

GAME_KEY = re.compile("[a-z][a-z0-9_]{0,29}")
KEY_FORM = "a word of small letters and digits, such as nim"
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
    if GAME_KEY.fullmatch(rules.key) is None:
        raise ValueError(f"{name}.key must be {KEY_FORM}, not {rules.key!r}")
    if not (type(rules).__doc__ or "").strip():
        raise ValueError(f"{name} has no docstring; it explains the rules to players")
    if len(rules.title) > LONGEST_TITLE or not rules.title.isprintable():
        raise ValueError(f"{name}.title must be one line of at most {LONGEST_TITLE} characters")
    seats: Any = rules.seats
    if not _is_sequence_of(seats, int) or len(seats) != 2:
        raise ValueError(f"{name}.seats must be two numbers, such as (2, 2), not {seats!r}")
    least, most = seats
    if not 1 <= least <= most <= 8:
        raise ValueError(
            f"{name}.seats must say from 1 to 8 players, the least first, not {seats!r}"
        )
    if rules.swap and rules.seats != (2, 2):
        raise ValueError(f"{name}.swap needs two players")
    _check_bots(name, rules.bots)
    _check_options(name, rules.options)


def _check_bots(name: str, bots: Any) -> None:
    if not isinstance(bots, Mapping):
        raise ValueError(f'{name}.bots must be functions by name, such as {{"house": choose}}')
    for userid in bots:
        if userid not in BOT_USERIDS:
            raise ValueError(f"{name}.bots: {userid!r} is not one of {', '.join(BOT_USERIDS)}")
        if not callable(bots[userid]):
            raise ValueError(f"{name}.bots: {userid!r} must be a function")


def _check_options(name: str, options: Any) -> None:
    if not _is_sequence_of(options, Option):
        raise ValueError(f"{name}.options must be a tuple of options, such as (Option(…),)")
    names = [option.name for option in options]
    for option in options:
        is_own = option.name not in SERVER_OPTIONS
        if not (_OPTION.fullmatch(option.name) and is_own) or names.count(option.name) > 1:
            raise ValueError(f"{name}.options: {option.name!r} is not a word of its own")
        if option.default not in option.values:
            raise ValueError(
                f"{name}.options: {option.name} has the default {option.default!r}, "
                f"which is not one of its values"
            )


def _is_sequence_of(value: Any, kind: type) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(part, kind) for part in value)
