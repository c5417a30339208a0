"""Tells which lines of somebody's words stand in letters of ours, whatever quoted them.

Mail programs mark a quoted letter in many ways, wrap it anew, or make one line or plain text of its
HTML. So blanks, marks and letter case count for nothing here, and the end of a line means nothing.
What could tell a cell is left out where it is only likely that it is quoted: a lost remark is a
nuisance, a told atom is a lost game.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pbmserv.commands.grammar.words import fold

SURE = 12
"""Characters of a whole line that also stand in a letter, and then hardly by chance."""

RUN = 20
"""Characters in a row that a line of one's own hardly has in common with a letter."""

LONG_RUN = 40
"""Characters in a row that show a quoted letter however long the rest of their line is."""

_FEWEST_BARS = 3
_BARS = str.maketrans(dict.fromkeys("\u00a6\u2502\u2503\u2551\uff5c", "|"))
_MARKS = "-=+|_.:;,#%@?! \t"
_CELL = re.compile(r"(?<![^\W_])(?:[a-z]{1,2}[0-9]{1,2}|[0-9]{1,2}[a-z]{1,2})(?![^\W_])")
_GAPS = re.compile(r"[\s,;.:/+!?*()\[\]-]+")
# What is between the tags of a style or title ends before the next such tag, so that no character
# is looked at more than a few times.
_TAG = re.compile(
    r"<(?:style|title)\b[^<]*(?:<(?!/?(?:style|title)\b)[^<]*)*</(?:style|title)>|<[^<>]*>",
    re.IGNORECASE,
)


def bare(markup: str) -> str:
    """Markup without its tags; entities have been replaced before or stay as they are."""
    return _TAG.sub(" ", markup)


def plain(text: str) -> str:
    """The letters and digits of a text, which no mail program takes away."""
    folded = unicodedata.normalize("NFKC", fold(text)).casefold()
    return "".join(filter(str.isalnum, folded))


class Quoted:
    """Letters of ours that somebody may quote.

    Args:
        letters: their texts, in every form in which they were sent, without what people say.
        said: what other people say in them. Such a line may be said again ("Good luck!"),
            if nothing else of the letter stands beside it.
        own: what their reader has said before, and may say again in any case.
    """

    def __init__(
        self, letters: Iterable[str], said: Iterable[str] = (), own: Iterable[str] = ()
    ) -> None:
        texts = list(letters)
        self._all = "\n".join(map(plain, texts))
        self._cells = {cell for text in texts for cell in _cells(text)}
        self._said = "\n".join(map(plain, said))
        self._own = {plain(line) for text in own for line in text.splitlines()} - {""}
        self._runs = {self._all[at : at + RUN] for at in range(len(self._all) - RUN + 1)}

    def places(self, lines: Sequence[str]) -> set[int]:
        """The places of lines that are a letter's, or that draw a board or list its cells."""
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
        """The most characters in a row that stand in a letter, as far as they reach `RUN`."""
        longest = run = 0
        for at in range(len(text) - RUN + 1):
            run = run + 1 if text[at : at + RUN] in self._runs else 0
            longest = max(longest, run)
        return longest + RUN - 1 if longest else 0

    def _is_its_cell(self, line: str) -> bool:
        """Whether a line is just a cell that a letter names."""
        words = _GAPS.sub(" ", fold(line).casefold()).split()
        return len(words) == 1 and words[0] in self._cells

    def _is_likely(self, line: str) -> bool:
        """Whether a line stands in a letter, or tells a cell of it, where others surely do."""
        text = plain(line)
        if not text:
            return bool(line.strip())  # marks of a drawing, or of a quote
        return text in self._all or text in self._said or not self._cells.isdisjoint(_cells(line))


def _cells(text: str) -> set[str]:
    """The words of a text that may name a cell, such as ``b2``."""
    return set(_CELL.findall(unicodedata.normalize("NFKC", fold(text)).casefold()))


def _is_drawn(line: str) -> bool:
    """Whether a line is one of a board's drawing."""
    text = line.translate(_BARS)
    if text.count("|") < _FEWEST_BARS:
        return False
    return 2 * sum(map(text.count, set(_MARKS))) >= len(text)


def _lists_cells(line: str) -> bool:
    """Whether a line has several cells and nothing else."""
    words = _GAPS.sub(" ", fold(line).casefold()).split()
    cells = [word for word in words if _CELL.fullmatch(word)]
    return len(cells) > 1 and len(cells) >= len(words) - words.count("and")
