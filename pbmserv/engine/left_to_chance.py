"""Recognises the wish that the server places for a player: "you choose"."""

from __future__ import annotations

import re

from pbmserv.engine.plain_text import any_of, phrases, plain

_CHANCE = any_of(
    phrases(
        "random, randomly, at random, by chance, hide for me, hide them for me, hide mine for me",
        "hide mine, you hide, you choose, you pick, you decide, anywhere",
        "wherever, surprise me, pick some for me, pick for me, choose for me",
        "place them for me, place for me, put them anywhere, i don't care, i do not care",
        "just hide, zufällig, irgendwo, such du aus, au hasard, n'importe où, al azar, donde sea",
        "a caso, ao acaso, willekeurig, slumpmässigt, slump, tilfældigt, tilfeldig, losowo",
        "auto, automatic, automatically, náhodně, случайно, ランダム, おまかせ",
    )
)
"""Wishes for a placement that the server draws."""

_NO_CHANCE = phrases(
    "can't, cannot, not, find, see, look, where, what, how, why, when, who, question, hope"
)
"""Words of sentences about something else: "I can't find it anywhere"."""
_MINE = re.compile(r"\bhide (?:my|the) \w+ for me\b")
_CELL = re.compile(r"[a-z]{1,2}-?\d{1,3}|\d{1,3}[a-z]{1,2}")
_LONGEST = 120


def leaves_it_to_chance(sentence: str) -> bool:
    """Return whether somebody who has to hide things wants them to be hidden anywhere."""
    text = plain(sentence)
    if len(sentence) > _LONGEST or _CELL.search(text) or not _NO_CHANCE.isdisjoint(text.split()):
        return False
    return _CHANCE.search(text) is not None or _MINE.search(text) is not None
