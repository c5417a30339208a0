"""Compares words with the names of commands, so that misspelt names are understood or suggested."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST, LONGEST = 4, 24
"""Letters of a word that may be a misspelt name. Shorter words may be moves."""

_LONG_NAME = 7
"""Letters of a name that is recognised although one letter of the word is wrong or missing."""


def edit_distance(left: str, right: str) -> int:
    """Count letters to add, drop, change or swap with a neighbour (optimal string alignment)."""
    previous: list[int] = []
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        previous, above = above, row
    return above[-1]


def is_misspelling(word: str, name: str) -> bool:
    """Return whether a word is so surely a misspelt name that nobody needs to be asked.

    One edit must lead from the word to the name. It also leads from "love" to "move" and from
    "shows" to "show", so the edit must do one of these:

    - swap two letters ("mvoe")
    - keep the first and the last letter, and the letters that occur ("moove")
    - keep the first and the last letter of a long name ("comfirm")

    Two words are compared with names of two words, and one word with names of one.
    """
    if abs(len(word) - len(name)) > 1 or word.count(" ") != name.count(" "):
        return False
    if word[0] == name[0] and word[-1] == name[-1]:
        is_clear = set(word) == set(name) or len(name.replace(" ", "")) >= _LONG_NAME
    else:
        is_clear = False
    is_swap = len(word) == len(name) and sorted(word) == sorted(name)
    return (is_clear or is_swap) and edit_distance(word, name) == 1


def misspelt_name(word: str, names: Iterable[str]) -> str | None:
    """Return the first of the names of which a word is surely a misspelling, `None` for none."""
    if not SHORTEST <= len(word) <= LONGEST:
        return None
    return next((name for name in names if is_misspelling(word, name)), None)


def nearest_name(word: str, names: Iterable[str]) -> str | None:
    """Return the name to suggest for a misspelt word, `None` if none is near.

    One letter may be wrong in a word of up to five letters, two in a longer one. Of equally near
    names, the first in the alphabet is returned.
    """
    if not 3 <= len(word) <= LONGEST:
        return None
    allowed = 1 if len(word) <= 5 else 2
    near = (name for name in names if abs(len(name) - len(word)) <= allowed)
    distance, name = min(
        ((edit_distance(word, name), name) for name in near), default=(allowed + 1, "")
    )
    return name if distance <= allowed else None
