"""Tells a reply that says yes from one that only begins like it: "yes, but not now"."""

from __future__ import annotations

import re

from pbmserv.commands.grammar.words import fold
from pbmserv.commands.reading.bodies import text_lines
from pbmserv.commands.reading.trailing_text import is_signature

_YES = frozenset(
    ("yes", "yep", "yeah", "y", "ok", "okay", "sure", "confirm", "accept", "ja", "jawohl", "oui")
) | {"si", "sí"}
_BESIDE = _YES.union(
    ("please", "pls", "thanks", "thank", "you", "of", "course", "gladly", "fine", "great", "good"),
    ("let's", "lets", "let", "us", "go", "play", "i", "am", "do", "agree", "it", "is", "it's"),
    ("that's", "that", "this", "me", "my", "sounds", "with", "pleasure", "confirmed", "accepted"),
    ("bitte", "danke", "gern", "gerne", "merci", "bien", "sûr", "gracias", "grazie"),
)
"""Words that may stand beside a yes and take nothing of it away."""

_SIGNS = re.compile(r"[^\w?']+")
"""Everything but words and question marks: "ok?" asks something."""


def says_yes(text: str) -> bool:
    """Whether a text is a yes and nothing that might take it back."""
    words = _SIGNS.sub(" ", fold(text).lower()).split()
    return bool(words) and words[0] in _YES and _BESIDE.issuperset(words)


def adds_nothing(text: str) -> bool:
    """Whether the words behind a yes leave it a yes."""
    return says_yes(f"yes {text}")


def first_paragraph(text: str) -> str:
    """The lines of a reply up to its first blank one below them, in one line."""
    found: list[str] = []
    for line in text_lines(text):
        if is_signature(line) or (found and not line.strip()):
            break
        if line.strip():
            found.append(line.strip())
    return " ".join(found)
