"""Reads the times of a challenge: ``--nagtime=7``, ``--time=14d+1d/weekdays``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pbmserv.commands.grammar.word_forms import BANK_EXAMPLES, MOST_DAYS
from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.clocks import USUAL, Terms
from pbmserv.errors import OptionError

_NAMES = {"nagtime": "nag", "forfeittime": "forfeit", "totaltime": "total"}
_EXAMPLES = {
    "nagtime": "--nagtime=7",
    "forfeittime": "--forfeittime=30",
    "totaltime": "--totaltime=60",
    **BANK_EXAMPLES,
}
_DAYS = re.compile(r"\d+")

USUAL_CAP = 30
"""The most days that increments leave to a player, unless a challenge says otherwise."""


def terms_of_challenge(command: Challenge) -> Terms:
    """Return the terms that a challenge asks for.

    Raises:
        OptionError: see `read_times`. Its example is the challenge with other times.
    """
    try:
        return read_times(command.times)
    except OptionError as error:
        raise error.offering(_with_other_times(command, error.refusal.example)) from error


def _with_other_times(command: Challenge, times: str) -> str:
    """Return a challenge with other times as its writer would write it."""
    changed = {word.partition("=")[0] for word in times.split()}
    if "--time" in changed:  # it replaces the other time for the whole game
        changed.add("--totaltime")
    kept = [word for word in command.times if word.partition("=")[0] not in changed]
    name, options = "challenge", command.options
    if command.alone:
        name, options = "solo", tuple(option for option in options if option != "-race")
    words = (command.game, name, *command.userids, command.address, *options, *kept, times)
    return " ".join(filter(None, words))


def read_times(words: Sequence[str], before: Terms = USUAL) -> Terms:
    """Return the terms that a challenge asks for.

    If only the forfeit is given, the reminder comes before it. A bank replaces the usual forfeit.

    Args:
        words: ``--nagtime=N``, ``--forfeittime=N``, ``--totaltime=N``, ``--time=14d+1d/weekdays``
            and ``--cap=30d``, in any order; 0 = none.
        before: the terms for times that are not given.

    Raises:
        OptionError: a time is given twice, too long, or does not fit the others.
    """
    terms = before
    seen: dict[str, str] = {}
    for word in words:
        name, _, value = word.removeprefix("--").partition("=")
        if name in seen:
            raise OptionError("time-repeated", part=word, first=seen[name], example=seen[name])
        seen[name] = word
        if any(int(days) > MOST_DAYS for days in _DAYS.findall(value)):
            raise OptionError("time-long", part=word, most=MOST_DAYS, example=_EXAMPLES[name])
        if name in _NAMES:
            changed: dict[str, Any] = {_NAMES[name]: int(value)}
            terms = replace(terms, **changed)
    if "time" in seen or "cap" in seen:
        terms = _with_bank(terms, seen)
    if "nagtime" not in seen and terms.nag >= terms.forfeit > 0:
        terms = replace(terms, nag=_nag_before(terms.forfeit))
    if terms.nag and terms.forfeit and terms.nag >= terms.forfeit:
        part = seen.get("forfeittime") or seen["nagtime"]
        fits = terms.nag < MOST_DAYS
        raise OptionError(
            "time-order",
            part=part,
            nag=terms.nag,
            forfeit=terms.forfeit,
            example=f"--nagtime={terms.nag if fits else USUAL.nag} "
            f"--forfeittime={min(MOST_DAYS, terms.nag + 14) if fits else MOST_DAYS}",
        )
    return terms if terms.total else replace(terms, total=None, increment=0, cap=None)


def _with_bank(terms: Terms, seen: Mapping[str, str]) -> Terms:
    """Return the terms with a bank of time.

    Args:
        terms: the terms without it.
        seen: the words of the challenge by their names.

    Raises:
        OptionError: the bank is empty or too large, or does not fit the other times.
    """
    if "time" not in seen:
        cap = seen["cap"]
        raise OptionError(
            "time-cap-alone", part=cap, example=f"--time=14d+1d {_with_days(cap, USUAL_CAP)}"
        )
    word = seen["time"]
    if "totaltime" in seen:
        raise OptionError("time-and-total", part=seen["totaltime"], first=word, example=word)
    bank, *more = (int(days) for days in _DAYS.findall(word))
    if bank == 0:
        raise OptionError("time-empty", part=word, example=_EXAMPLES["time"])
    cap_days = int(_DAYS.findall(seen["cap"])[0]) if "cap" in seen else max(bank, USUAL_CAP)
    if cap_days < bank:
        example = f"{word} --cap={bank}d"
        raise OptionError("time-cap-low", part=seen["cap"], first=word, days=bank, example=example)
    return replace(
        terms,
        nag=terms.nag if "nagtime" in seen or terms.nag < bank else _nag_before(bank),
        forfeit=terms.forfeit if "forfeittime" in seen else 0,
        total=bank,
        increment=sum(more),
        cap=cap_days,
        weekdays=word.endswith("/weekdays"),
    )


def _with_days(word: str, least: int) -> str:
    """Return a cap in its correct form with at least so many days."""
    days = max(least, *(int(days) for days in _DAYS.findall(word)))
    return f"--cap={days}d"


def _nag_before(forfeit: int) -> int:
    """Return the days to the reminder, a third of those to the forfeit; 0: one day before it."""
    return max(1, forfeit * USUAL.nag // USUAL.forfeit) if forfeit > 1 else 0
