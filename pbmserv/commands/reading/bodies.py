"""Finds the command lines of a body, and where reading stops."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.commands.grammar.command_names import find_command, find_head
from pbmserv.commands.grammar.line import REST, not_a_command, read_line, without_its_word, words_of
from pbmserv.commands.grammar.words import Word, fold
from pbmserv.commands.reading.trailing_text import MOST_NOT_TRIED, Below, is_signature, short
from pbmserv.commands.table.catalogue import STOPS
from pbmserv.commands.table.model import Broadcast, Chat, Line, Message, NotTried, Reading
from pbmserv.errors import Misread

MOST_COMMANDS = 50
MOST_PROSE = 5
MOST_LOOKED_AT = 500
"""Lines below the end of the reading in which commands are looked for."""

_FRONT = re.compile(
    # A list's tag, or what mail programs put before a subject, in their users' languages.
    r"\s*(?:\[[^\[\]]{0,80}\]|\*{2,}\s?spam\s?\*{2,}"
    r"|(?:re|r|fwd?|fw|i|aw|wg|antw|antwort|sv|vs|vb|vl|tr|rv|res|enc|rif|odp|pd|ynt|ilt|bls|trs"
    r"|doorst|atb|va|ref|subject|betreff)\s{0,3}(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s{0,3}:)",
    re.IGNORECASE,
)


def clean_subject(subject: str) -> str:
    """A subject, folded, without ``Re:``, ``AW:``, ``[list tags]`` and the like in front."""
    subject = fold(subject)
    at = 0
    while found := _FRONT.match(subject, at):
        at = found.end()
    return subject[at:].strip()


def text_lines(body: str) -> list[str]:
    """The lines of a body."""
    return body.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_body(body: str, games: Collection[str], *, announced: bool = False) -> Reading | None:
    """The commands of a body, one a line, or ``None`` when it has none.

    *announced*: the subject says that several commands follow, so it is refused if none does.
    """
    found = _Body(text_lines(body), games)
    found.read()
    if not found.lines:
        if not announced:
            return None
        refused = Misread("no-commands", example="list", stopped=found.stopped_by)
        return Reading((Line("multiple", refused),), "", True)
    return Reading(tuple(found.lines), found.words, multiple=announced or len(found.lines) > 1)


class _Body:
    """A body while it is read, and what was found in it.

    Attributes:
        stopped_by: what ended the reading before the end of the commands; see `NotTried`.
    """

    def __init__(self, text: Sequence[str], games: Collection[str]) -> None:
        self._text = text
        self._games = games
        self._commands = self._prose = self._at = self._begin = self._words_at = 0
        self.lines: list[Line] = []
        self.words = ""
        self.stopped_by = ""

    def read(self) -> None:
        """Read until one of the rules says stop; what stands below may be words for somebody."""
        while (line := self._next()) is not None:
            self.stopped_by = self._line(line)
            if self.stopped_by:
                if self.lines:
                    self._list_the_rest(self.stopped_by)
                break
            if self._words_follow():
                self._words_at = self._at
                break
        if self._words_at:
            is_blank = not self._text[self._words_at - 1].strip()
            why = "blank" if is_blank else "below"
            below = Below(self._text, self._words_at, self._games, why=why)
            self.words = below.words()
            self.lines += below.not_tried()

    def _next(self) -> str | None:
        """The next line with those that continue it; ``None`` where the commands end."""
        while self._at < len(self._text):
            text = fold(self._text[self._at])
            if not text.strip() and self._commands:
                self._words_at = self._at + 1
                return None
            if is_signature(text) or text.lstrip().startswith(">"):
                return None
            if text.strip() and not text.startswith("#"):
                self._begin = self._at
                self._at, text = continued(self._text, self._at)
                return text
            self._at += 1
        return None

    def _line(self, text: str) -> str:
        """Take one line in; why to read no further, or ``""``."""
        words = words_of(text)
        if not words:
            return ""
        if is_stop(words):
            return "stop"
        head = find_head(words, self._games)
        if head is None or (head.row is None and not head.front):
            self._prose += 1
        if head is not None:
            self._commands += 1
            if self._commands > MOST_COMMANDS:
                self._at = self._begin
                return "limit"
            read = read_line(words, head, len(text), self._games)
            # A word alone below a command may be its password, which a mail program has wrapped.
            alone = len(words) == 1 and self._commands > 1
            self.lines.append(without_its_word(read) if alone else read)
        elif self._commands:  # a greeting above the first command needs no answer of its own
            self.lines.append(not_a_command(words, self._games))
        return "prose" if self._prose >= MOST_PROSE else ""

    def _words_follow(self) -> bool:
        """Whether what was read last carries words, and no command stands right below it."""
        if not self.lines or not isinstance(self.lines[-1].asked, Chat | Message | Broadcast):
            return False
        words = words_of(fold(self._text[self._at])) if self._at < len(self._text) else []
        return bool(words) and not is_stop(words) and find_head(words, self._games) is None

    def _list_the_rest(self, why: str) -> None:
        """Name the commands that stand below the line at which the reading stopped."""
        rest: list[Line] = []
        for _ in range(MOST_LOOKED_AT):
            line = self._next()
            if line is None:
                break
            words = words_of(line)
            head = find_command(words, self._games) if words else None
            if head is not None and head.row is not None and head.row.build is not None:
                rest.append(Line(short(head, words), NotTried(why)))
        self.lines += rest[:MOST_NOT_TRIED]
        if len(rest) > MOST_NOT_TRIED:
            self.lines.append(Line(REST, NotTried(why, len(rest) - MOST_NOT_TRIED)))


def is_stop(words: Sequence[Word]) -> bool:
    """Whether a line says that nothing below it is to be read."""
    return words[0].text.lower().rstrip(",.;!") in STOPS


def continued(lines: Sequence[str], at: int) -> tuple[int, str]:
    """A line with those below it that are indented further, and the place behind them."""
    first = fold(lines[at])
    indent = len(first) - len(first.lstrip())
    parts = [first.strip()]
    at += 1
    while at < len(lines):
        following = fold(lines[at])
        text = following.strip()
        if not text or text.startswith(">") or len(following) - len(following.lstrip()) <= indent:
            break
        parts.append(text)
        at += 1
    return at, " ".join(parts)
