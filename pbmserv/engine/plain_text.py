"""Compares the words of people, whatever their case, accents and faces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_DROPPED = frozenset({"So", "Sk", "Cf"})
"""Unicode categories of faces, their skin colours and joiners."""


def plain(text: str) -> str:
    """Return a text in lower case without accents, faces and doubled blanks."""
    decomposed = unicodedata.normalize("NFKD", text.lower().replace("\u2019", "'"))
    bare = "".join(
        char
        for char in decomposed
        if not unicodedata.combining(char) and unicodedata.category(char) not in _DROPPED
    )
    return " ".join(bare.replace("ß", "ss").split())


def phrases(*lists: str) -> frozenset[str]:
    """Return the phrases of lists that separate them by commas."""
    return frozenset(filter(None, (plain(phrase) for text in lists for phrase in text.split(","))))


def any_of(known_phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches each of the phrases as whole words, the longest first."""
    longest_first = sorted(known_phrases, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?![\w'])")
