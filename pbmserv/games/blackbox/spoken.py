"""Finds a move in a sentence that has other words in it.

A ray cannot be called back, so a label counts only where the sentence leaves no doubt: it says to
fire or names a port, or it says that this is the move; and there is only one label in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.spoken_words import (
    ASKS_US,
    BEHIND,
    BETWEEN,
    CHOOSE,
    DOUBT,
    FIGURES,
    FIRE,
    IDLE,
    MARK,
    OWN_MOVE,
    PORT,
    plain,
)

LONGEST = 120
"""Characters of a sentence that may hold a move."""

_NEAR = 4
"""Words between a verb and its label."""

_AREA = re.compile(
    r"\bseal(?:ed|s)?\s+(?:(?:from|cells?|the|area)\s+)*([a-z]{1,2}\d{1,3})\s*(?:to|through|-)\s*([a-z]{1,2}\d{1,3})"
)

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W\d_]+)*[°º]?|[?+/!]")
_CELL = re.compile(r"([a-z]{1,2})-?(\d{1,3})|(\d{1,3})([a-z]{1,2})")


def spoken_move(board: Geometry, sentence: str) -> str:
    """Return the move in a sentence as moves are written, ``""`` if it has none for sure.

    Args:
        board: whose ports and cells have labels.
        sentence: one sentence, with its question mark if it has one.
    """
    if len(sentence) > LONGEST:
        return ""
    text = plain(sentence)
    if area := _AREA.search(text):
        return f"!{area[1].upper()}-{area[2].upper()}"
    asks = "?" in text
    if asks and not ASKS_US.search(text):
        return ""
    if DOUBT.search(ASKS_US.sub(" ", text)):
        return ""
    words = _WORD.findall(text)
    cells = [name for name in map(_cell_name, words) if name and board.cell(name) is not None]
    labels = _labels(board, words) if not cells else [word for word in words if word.isdigit()]
    if len(labels) == 1 and labels[0].isdigit() and IDLE.issuperset(set(words) - {labels[0]}):
        return labels[0]
    if len(set(labels)) == 1 and not cells and _says_fire(words, text, labels[0]):
        return labels[0].upper()
    if cells and not labels and not MARK.isdisjoint(words):
        return ",".join(f"+{name.upper()}" for name in dict.fromkeys(cells))
    return ""


def spoken_cells(board: Geometry, sentence: str) -> tuple[str, ...]:
    """Return the cells that a sentence names, if it names no port and is no question."""
    text = plain(sentence)
    if "?" in text or DOUBT.search(text) or len(sentence) > LONGEST:
        return ()
    words = [word for word in re.split(r"[^\w-]+", text) if word]
    names = [name for name in map(_cell_name, words) if name]
    if any(board.cell(name) is None for name in names) or any(word.isdigit() for word in words):
        return ()
    return tuple(name.upper() for name in names)


def _labels(board: Geometry, words: Sequence[str]) -> list[str]:
    """Return the words that are labels of ports; a letter only behind a word that wants one."""
    found: list[str] = []
    for place, word in enumerate(words):
        figure = FIGURES.get(word, word)
        name = figure.upper()
        if name not in board.ports:
            continue
        if figure.isdigit():
            found.append(name)
        elif place and words[place - 1] in FIRE | CHOOSE | PORT | {
            "at",
            "from",
            "into",
            "in",
            "is",
        }:
            is_article = name in {"A", "I", "E", "O", "Y", "W", "Z", "D", "L"} and place + 1 < len(
                words
            )
            if not is_article or words[place + 1] in {"please", "now", "then"}:
                found.append(name)
    return found


def _says_fire(words: Sequence[str], text: str, label: str) -> bool:
    """Return whether a sentence leaves no doubt that its label is the next ray."""
    place = next(n for n, word in enumerate(words) if FIGURES.get(word, word).upper() == label)
    following = words[place + 1 : place + 2]
    if not BEHIND.issuperset(following):
        return False  # "2 apples"
    if OWN_MOVE.search(text):
        return True
    before = words[max(0, place - _NEAR) : place]
    if any(_is_meant(word, FIRE) for word in (*before, *following)):
        return True
    for word in reversed(before):
        if word in CHOOSE or _is_meant(word, PORT):
            return True
        if word not in BETWEEN:
            break
    return any(_is_meant(word, PORT) for word in following)


def _is_meant(word: str, known: frozenset[str]) -> bool:
    """Return whether a word is one of *known*, or one of them with two letters exchanged."""
    if word in known:
        return True
    if not 4 <= len(word) <= 6:
        return False
    swaps = (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1))
    return any(other in known for other in swaps)


def _cell_name(word: str) -> str:
    """Return a word as cells are named, such as ``b2`` for ``2b`` and ``b-2``; ``""`` if it is none."""
    match = _CELL.fullmatch(word)
    if match is None:
        return ""
    return f"{match[1] or match[4]}{match[2] or match[3]}"
