"""Moves as people say them: ``g.``, ``fire g``, ``mark b2``. Only what can mean nothing else.

A line of a reply may be prose, and a ray cannot be called back. So a verb and a label of this
board are needed and nothing else may stand there: "fire g" is a move, "a good move" is none.
What is nearly one is suggested instead.
"""

from __future__ import annotations

import re

from pbmserv.games.blackbox.geometry import Geometry

_FIRED = re.compile(
    r"(?:i(?:'ll| will)? )?(?:fire|shoot|probe|port|ray|laser)"
    r"(?: (?:at|in|into|from|through))?(?: port)? ([a-z]{1,2}|[0-9]{1,3})(?: please)?",
    re.IGNORECASE,
)
_AIDED = re.compile(
    r"(?:i(?:'ll| will)? )?(mark|marker|unmark|seal)(?: (?:at|on|cell))? "
    r"([a-z]{1,2}[0-9]{1,3}|[0-9]{1,3}[a-z]{1,2})(?: please)?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:please )?([a-z]{1,2}|[0-9]{1,3})(?:,? (?:please|pls|plz|now|thanks|thank you))?",
    re.IGNORECASE,
)
_GUESSED = re.compile(r"(?:i |my |take a |i take a |make a )?guess(?: please| now)?", re.IGNORECASE)
_SIGNS = {"mark": "+", "marker": "+", "unmark": "/", "seal": "!"}


def said(board: Geometry, text: str) -> str:
    """A move said in words, as signs and labels; ``""`` if it is not surely one."""
    words = _plain(text)
    fired = _FIRED.fullmatch(words)
    if fired and board.port(fired[1].upper()) is not None:
        return fired[1].upper()
    aided = _AIDED.fullmatch(words)
    if aided and board.cell(aided[2]) is not None:
        return _SIGNS[aided[1].lower()] + aided[2].upper()
    return ""


def without_full_stop(text: str) -> str:
    """A text without the signs with which people end a sentence: ``g.`` and ``G!``."""
    bare = text.rstrip(".! ")
    return bare if bare[-1:].isalnum() else text


def asked_for(board: Geometry, text: str) -> str:
    """The port or the ``?`` that a text nearly is, to be suggested; ``""`` if it is none."""
    words = _plain(text)
    if _GUESSED.fullmatch(words):
        return "?"
    asked = _ASKED.fullmatch(words)
    return asked[1].upper() if asked and board.port(asked[1].upper()) is not None else ""


def _plain(text: str) -> str:
    return " ".join(without_full_stop(text).split()).replace("\u2019", "'")
