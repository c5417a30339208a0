"""Words of players that other people may read, as a type of its own.

Letters take no other text as somebody's words than `Said`. Only `core.words_for_others` makes new
ones; `said_again` takes them from letters that were sent before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pbmserv.commands.grammar.readings import Line


class Said(str):
    """A player's words that others may read."""

    __slots__ = ()


UNSAID = Said("")


@dataclass(frozen=True, slots=True)
class Passed:
    """The words that others may read, and a line for each withheld passage, with the reason."""

    said: Said
    left_out: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedWords:
    """Results of the guard of words for others in one mail.

    Attributes:
        passed: the results by writer and text.
        letter_texts: texts of letters that the mail may quote, by their numbers.
    """

    passed: dict[tuple[int, str], Passed] = field(default_factory=dict)
    letter_texts: dict[int, tuple[str, ...]] = field(default_factory=dict)


def said_again(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words of a stored letter; its players' words have passed the guard before."""
    return {**words, **{key: Said(words[key]) for key in ("said", "said_to") if key in words}}
