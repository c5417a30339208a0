"""Writes long lists of words and phrases as plain text, several on a line."""

from __future__ import annotations

import re


def listed_words(text: str) -> tuple[str, ...]:
    """Return the words of a list with blanks between them; an underscore stands for a blank."""
    return tuple(word.replace("_", " ") for word in text.split())


def listed_phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of a list with semicolons or line ends between them, casefolded."""
    parts = [part.strip() for part in re.split(r"[\n;]", text)]
    return tuple(part.casefold() for part in parts if part)
