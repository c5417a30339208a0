"""Reads a reply to the one mail a day: a line for each board, its number in front."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.commands.grammar.line import BLANK, LONGEST_LINE, REST, words_of
from pbmserv.commands.grammar.words import fold
from pbmserv.commands.reading.bodies import (
    MOST_COMMANDS,
    MOST_PROSE,
    continued,
    is_stop,
    text_lines,
)
from pbmserv.commands.reading.replies import read_reply, top_lines
from pbmserv.commands.reading.trailing_text import MOST_NOT_TRIED, is_signature
from pbmserv.commands.table.model import Line, NotTried, Reading, TrayReply
from pbmserv.errors import Misread, PlayerError

_SURE = re.compile(r"#?(\d{1,9})\s*:(?!\d)\s*(\S.*)|#(\d{1,9})\s+(\S.*)", re.ASCII)
_LIKELY = re.compile(
    r"(?:board\s+)?#?(\d{1,9})(?:\s*[:.)]|\s)\s*(\S.*)()()", re.ASCII | re.IGNORECASE
)


def read_tray(body: str, games: Collection[str], *, asked: bool) -> Reading | None:
    """The lines of a reply to a digest; ``None`` when its first line is not of that form.

    Args:
        asked: the letter that is answered is a digest, so ``412 5`` has a board in front, and
            a greeting may stand above the first line. Else only ``412: 5`` or ``#412 5`` does,
            in the first line.
    """
    lines = text_lines(body)
    form = _LIKELY if asked else _SURE
    for at, text in top_lines(lines) if asked else top_lines(lines)[:1]:
        if form.fullmatch(text):
            return Reading(tuple(_Tray(lines[at:], games).read()), multiple=True)
    return None


class _Tray:
    """The lines of a reply to a digest while they are read."""

    def __init__(self, text: Sequence[str], games: Collection[str]) -> None:
        self._text = text
        self._games = games
        self._found: list[Line] = []
        self._prose = 0

    def read(self) -> list[Line]:
        """All lines until a signature, quoted text, or words below a blank line."""
        at, blank = 0, False
        while at < len(self._text):
            text = fold(self._text[at]).strip()
            if is_signature(text) or text.startswith(">"):
                break
            if not text:
                at, blank = at + 1, True
                continue
            if blank and not _LIKELY.fullmatch(text):
                break
            blank = False
            at, text = continued(self._text, at)
            if is_stop(words_of(text) or words_of("end")):
                self._list_the_rest(self._text[at:], "stop")
                break
            self._line(text)
            if self._prose == MOST_PROSE:
                self._list_the_rest(self._text[at:], "prose")
                break
            if len(self._found) == MOST_COMMANDS:
                self._list_the_rest(self._text[at:], "limit")
                break
        return self._found

    def _line(self, text: str) -> None:
        numbered = _LIKELY.fullmatch(text[:LONGEST_LINE])
        board = int(numbered[1]) if numbered else 0
        if numbered is None or not board or _SURE.fullmatch(numbered[2]):
            self._prose += 1
            self._found.append(Line(REST, Misread("tray-line", example="412: g,+b2")))
            return
        inner = read_reply(numbered[2], self._games)
        line = inner.lines[0]
        echo = f"{board}: {line.echo}"
        asked = line.asked
        if isinstance(asked, PlayerError) or BLANK in line.echo:
            self._found.append(Line(echo, asked))  # with a password it says all by itself
        else:
            self._found.append(Line(echo, TrayReply(board, numbered[2])))

    def _list_the_rest(self, lines: Sequence[str], why: str) -> None:
        boards = []
        for line in lines:
            text = fold(line).strip()
            if is_signature(text) or text.startswith(">"):
                break
            found = _LIKELY.fullmatch(text[:LONGEST_LINE])
            if found:
                boards.append(Line(f"{found[1]}: {REST}", NotTried(why)))
        self._found += boards[:MOST_NOT_TRIED]
        if len(boards) > MOST_NOT_TRIED:
            self._found.append(Line(REST, NotTried(why, len(boards) - MOST_NOT_TRIED)))
