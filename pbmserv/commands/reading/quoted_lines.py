"""Finds lines of a mail that quote one of our letters, however the mail program quotes.

Mail programs mark a quoted letter in many ways, wrap it again, or turn its HTML into one line or
plain text. Therefore blanks, punctuation, letter case and line ends are ignored. A line that may
reveal a cell is left out even if it is only likely to be quoted: a lost remark is a nuisance, but
a revealed atom is a lost game.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pbmserv.commands.grammar.words import fold

SURE = 12
"""Characters of a whole line that is also in a letter, hardly by chance."""

RUN = 20
"""Characters in a row that an original line hardly shares with a letter."""

LONG_RUN = 40
"""Characters in a row that show a quoted letter however long the line is."""

_FEWEST_BARS = 3
_BARS = str.maketrans(dict.fromkeys("\u00a6\u2502\u2503\u2551\uff5c", "|"))
_DRAWN_WITH = "-=+|_.:;,#%@?! \t"
"""Characters of the drawing of a board: " 1|  |. |  |# |  |8"."""

_CELL = re.compile(r"(?<![^\W_])(?:[a-z]{1,2}[0-9]{1,2}|[0-9]{1,2}[a-z]{1,2})(?![^\W_])")
"""A word that may name a cell: "b2", "2b"."""

_BETWEEN_CELLS = re.compile(r"[\s,;.:/+!?*()\[\]-]+")

_TAG = re.compile(
    r"""
    <(?:style|title)\b[^<]*            # a style or title, with its content
    (?:<(?!/?(?:style|title)\b)[^<]*)* #   up to the next such tag, so that matching is linear
    </(?:style|title)>
    |
    <[^<>]*>                           # any other tag
    """,
    re.IGNORECASE | re.VERBOSE,
)


def bare(markup: str) -> str:
    """Return markup without its tags. Entities stay as they are."""
    return _TAG.sub(" ", markup)


def plain(text: str) -> str:
    """Return the letters and digits of a text, which all mail programs keep."""
    folded = unicodedata.normalize("NFKC", fold(text)).casefold()
    return "".join(filter(str.isalnum, folded))


class Quoted:
    """Letters of ours that a mail may quote.

    Args:
        letters: their texts in each form in which they were sent, without messages of players.
        messages: messages of other players in them. A mail may repeat one ("Good luck!") if it
            quotes nothing else of the letter.
        own_messages: earlier messages of the sender, who may repeat them in any case.
    """

    def __init__(
        self, letters: Iterable[str], messages: Iterable[str] = (), own_messages: Iterable[str] = ()
    ) -> None:
        texts = list(letters)
        self._all = "\n".join(map(plain, texts))
        self._cells = {cell for text in texts for cell in _cells(text)}
        self._said = "\n".join(map(plain, messages))
        self._own = {plain(line) for text in own_messages for line in text.splitlines()} - {""}
        self._runs = {self._all[at : at + RUN] for at in range(len(self._all) - RUN + 1)}

    def quoted_places(self, lines: Sequence[str]) -> set[int]:
        """Return the indices of lines that quote a letter, draw a board or list cells."""
        doubtful = [(at, line) for at, line in enumerate(lines) if plain(line) not in self._own]
        sure = {at for at, line in doubtful if self._is_sure(line)}
        if not sure:
            return {at for at, line in doubtful if self._is_its_cell(line)}
        return sure | {at for at, line in doubtful if self._is_likely(line)}

    def _is_sure(self, line: str) -> bool:
        if _is_drawn(line) or _lists_cells(line):
            return True
        text = plain(line)
        if len(text) >= SURE and text in self._all:
            return True
        run = self._longest_run(text)
        if run < RUN:
            return False
        return run >= LONG_RUN or 2 * run >= len(text) or not self._cells.isdisjoint(_cells(line))

    def _longest_run(self, text: str) -> int:
        """Return the length of the longest quoted run, 0 if it is shorter than `RUN`."""
        longest = run = 0
        for at in range(len(text) - RUN + 1):
            run = run + 1 if text[at : at + RUN] in self._runs else 0
            longest = max(longest, run)
        return longest + RUN - 1 if longest else 0

    def _is_its_cell(self, line: str) -> bool:
        """Return whether a line is only a cell that a letter names."""
        words = _BETWEEN_CELLS.sub(" ", fold(line).casefold()).split()
        return len(words) == 1 and words[0] in self._cells

    def _is_likely(self, line: str) -> bool:
        """Return whether a line is likely quoted, given that another line surely is."""
        text = plain(line)
        if not text:
            return bool(line.strip())  # part of a drawing, or a quote sign
        return text in self._all or text in self._said or not self._cells.isdisjoint(_cells(line))


def _cells(text: str) -> set[str]:
    """Return the words of a text that may name a cell, such as ``b2``."""
    return set(_CELL.findall(unicodedata.normalize("NFKC", fold(text)).casefold()))


def _is_drawn(line: str) -> bool:
    """Return whether a line is part of the drawing of a board."""
    text = line.translate(_BARS)
    if text.count("|") < _FEWEST_BARS:
        return False
    return 2 * sum(map(text.count, set(_DRAWN_WITH))) >= len(text)


def _lists_cells(line: str) -> bool:
    """Return whether a line consists of several cells."""
    words = _BETWEEN_CELLS.sub(" ", fold(line).casefold()).split()
    cells = [word for word in words if _CELL.fullmatch(word)]
    return len(cells) > 1 and len(cells) >= len(words) - words.count("and")
