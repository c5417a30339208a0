"""Finds a move in a sentence that has other words in it.

A ray cannot be called back, so a label counts only where the sentence leaves no doubt: it says to
fire, names a port or says that this is the move, and there is only one label in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.engine.plain_text import plain
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.spoken_words import (
    ASKS_US,
    BEFORE_CELL,
    BEFORE_LETTER,
    BEHIND,
    BETWEEN,
    CHAT_SPELLINGS,
    CHOOSE,
    DOUBT,
    FIGURES,
    FIRE,
    IDLE,
    LINE,
    MARK,
    ON_THE_WAY,
    OTHER,
    OWN_MOVE,
    PORT,
)
from pbmserv.games.blackbox.views import View

LONGEST = 120
"""Characters of a sentence that may hold a move."""

_NEAR = 6
"""Words between a verb and its label."""

_ARTICLES = frozenset({"a", "i", "e", "o", "y", "w", "z", "d", "l"})
"""Labels that are also words, so that they count only at the end of a sentence."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W\d_]+)*|[?+/!]")
_CELL = re.compile(r"([a-z]{1,2})-?(\d{1,3})|(\d{1,3})([a-z]{1,2})")
_JOINED = re.compile(r"(?<=[^\W\d_a-z])(?=\d)|(?<=\d)(?=[^\W\d_a-z])|(?<=port)(?=\d)")
_ABBREVIATED = re.compile(r"\b(no|nr|num)\.(?=\s*\d)")
_CHOOSES = re.compile(r"\bi(?:'m| am|m) going (?:for|with)\b")
_CHATTED = re.compile(r"((?<!\S)\S+ )?\b(b4|h8|l8|m8|w8)\b(?=( (?:i|we|you|he|she|they|it|my)\b)?)")
_IF_I_MAY = re.compile(r",? if (?:i may|you please|possible|you don't mind|that is ok(?:ay)?)\b")
_ME_TOO = re.compile(r"\A(?:me|u|you) 2\Z")
_SENTENCE_ENDS = re.compile(r"[.!?]\s+\w")


def spoken(view: View, sentence: str) -> str:
    """Return what a sentence says as moves are written, ``""`` if that is not clear."""
    board = view.options.board
    return spoken_move(board, sentence) if view.has_hidden else spoken_cells(board, sentence)


def _without_chat_spelling(text: str) -> str:
    """Return a text with "before" for the b4 of "I tried that b4", which is no cell."""

    def in_letters(match: re.Match[str]) -> str:
        before, cell, subject = match.groups()
        word = (before or "").strip(" ,;:")
        wants_cell = word in MARK | BEFORE_CELL or _CELL.fullmatch(word) or not word.isalpha()
        is_cell = wants_cell and not subject
        return match[0] if is_cell else f"{before or ''}{CHAT_SPELLINGS[cell]}"

    return _ME_TOO.sub("me too", _CHATTED.sub(in_letters, text))


def spoken_move(board: Geometry, sentence: str) -> str:
    """Return the move in a sentence as moves are written, ``""`` if it surely has none.

    Args:
        board: whose ports and cells have labels.
        sentence: one sentence, with its question mark if it has one.
    """
    text = _one_sentence(sentence)
    if not text or ("?" in text and not ASKS_US.search(text)):
        return ""
    if DOUBT.search(ASKS_US.sub(" ", text)):
        return ""
    words = _WORD.findall(text)
    cells = [name for name in map(_cell_name, words) if board.cell(name) is not None]
    if cells:
        is_mark = not MARK.isdisjoint(words) and _names_nothing_else(words)
        return ",".join(f"+{name.upper()}" for name in dict.fromkeys(cells)) if is_mark else ""
    labels = _labels(board, words)
    is_named = len(labels) == 1 and labels[0] in words and words[0] != "the"  # "the 5 of us"
    if is_named and IDLE.issuperset({*words} - {labels[0]}):
        return labels[0]
    if len(set(labels)) == 1 and _says_fire(words, text, labels[0]):
        return labels[0]
    return ""


def spoken_cells(board: Geometry, sentence: str) -> str:
    """Return the cells that a sentence names as moves are written, ``""`` if it is a question or
    has other numbers."""
    text = _one_sentence(sentence)
    if not text or "?" in text or DOUBT.search(text):
        return ""
    words = [word for word in re.split(r"[^\w-]+", text) if word]
    names = [name for name in map(_cell_name, words) if name]
    if any(board.cell(name) is None for name in names) or any(map(str.isdigit, words)):
        return ""
    return ",".join(names).upper()


def _one_sentence(text: str) -> str:
    """Return a short sentence in plain letters; ``""`` if it is long, or there are several."""
    if len(text) > LONGEST:
        return ""
    words = _ABBREVIATED.sub(r"\1 ", _JOINED.sub(" ", plain(text)))
    words = _IF_I_MAY.sub("", _CHOOSES.sub("i choose", _without_chat_spelling(words)))
    return "" if words.endswith(":") or _SENTENCE_ENDS.search(words) else words


def _labels(board: Geometry, words: Sequence[str]) -> list[str]:
    """Return the labels of ports; a letter counts only behind a word that wants one."""
    labels: list[str] = []
    for place, word in enumerate(words):
        name = FIGURES.get(word, word).upper()
        if name.isdigit():  # of a port that does not exist, too
            labels.append(name)
        elif name in board.ports and place:
            following = words[place + 1 : place + 2]
            is_wanted = words[place - 1] in FIRE | CHOOSE | PORT | LINE | BEFORE_LETTER
            if is_wanted and (word not in _ARTICLES or IDLE.issuperset(following)):
                labels.append(name)
    return labels


def _names_nothing_else(words: Sequence[str]) -> bool:
    """Return whether a sentence with cells has no port and no verb of another move."""
    is_letter = len(words[0]) == 1 and words[0] not in {"a", "i"}
    has_label = any(len(word) == 1 and word not in "aioye" for word in words)
    has_number = any(FIGURES.get(word, word).isdigit() for word in words)
    others = FIRE | PORT | OTHER
    return not (is_letter or has_label or has_number) and others.isdisjoint(words)


def _says_fire(words: Sequence[str], text: str, label: str) -> bool:
    """Return whether a sentence leaves no doubt that its label is the next ray."""
    place = next(n for n, word in enumerate(words) if FIGURES.get(word, word).upper() == label)
    following = words[place + 1 : place + 2]
    if not BEHIND.issuperset(following):
        return False  # "2 apples"
    if own := OWN_MOVE.search(text):
        between = _WORD.findall(text[own.end() :])
        between = between[: between.index(words[place])] if words[place] in between else ["?"]
        return (ON_THE_WAY | {"is"}).issuperset(between)
    for word in reversed(words[max(0, place - _NEAR) : place]):
        if _means(word, FIRE):
            return True
        if word not in ON_THE_WAY and not _means(word, PORT):
            break
    return _names_port(words, place)


def _names_port(words: Sequence[str], place: int) -> bool:
    """Return whether a sentence without a verb of firing chooses or names the port at a place."""
    small_words = IDLE | BEHIND | BETWEEN | ON_THE_WAY
    if not small_words.issuperset(words[place + 1 :]):
        return False  # "try the number 12 on the menu"
    for word in reversed(words[:place]):
        if word in CHOOSE or _means(word, PORT):
            return True
        if word not in BETWEEN:
            break
    if any(_means(word, FIRE | PORT) for word in words[place + 1 : place + 2]):
        return True
    return not LINE.isdisjoint(words) and small_words.issuperset({*words} - {words[place]})


def _means(word: str, known: frozenset[str]) -> bool:
    """Return whether a word is one of *known*, or one of them with two letters exchanged."""
    if word in known:
        return True
    if not 4 <= len(word) <= 6:
        return False
    swaps = (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1))
    return any(other in known for other in swaps)


def _cell_name(word: str) -> str:
    """Return a word as cells are named: ``b2`` for ``2b`` and ``b-2``; ``""`` for other words."""
    match = _CELL.fullmatch(word)
    return f"{match[1] or match[4]}{match[2] or match[3]}" if match else ""
