"""Finds the command lines of a body, where reading stops, and what is left for an opponent."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.commands.catalogue import STOPS
from pbmserv.commands.heads import Head, find_command, find_head
from pbmserv.commands.line import REST, not_a_command, read_line, words_of
from pbmserv.commands.model import Line, NotTried, Reading
from pbmserv.commands.words import Word, fold

MOST_COMMANDS = 50
MOST_PROSE = 5
MOST_NOT_TRIED = 10
"""Commands below the end of the reading that are listed one by one."""

MOST_LOOKED_AT = 500
"""Lines below the end of the reading in which commands are looked for."""

LONGEST_WORDS = 4_000

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


_REPLY_ADDRESS = re.compile(r"(?:\+|%2B)[a-z2-7]{24,64}@", re.IGNORECASE)


def is_signature(line: str) -> bool:
    """Whether the line is the mark above a signature (RFC 3676 section 4.3)."""
    return line.rstrip() == "--"


def opponent_text(lines: Sequence[str]) -> str:
    """The text for an opponent in these lines.

    There are no quoted lines in it, nothing from the signature on, and no reply address of ours.
    """
    kept: list[str] = []
    for line in lines:
        if is_signature(line):
            break
        # A quoted link or Reply-To would let the reader move for the writer.
        if not line.startswith(">") and not _REPLY_ADDRESS.search(line):
            kept.append(line)
    return "\n".join(kept).strip()[:LONGEST_WORDS].rstrip()


def text_lines(body: str) -> list[str]:
    """The lines of a body."""
    return body.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_body(body: str, games: Collection[str], *, announced: bool = False) -> Reading | None:
    """The commands of a body, one a line, or ``None`` when it has none.

    *announced*: the subject says that several commands follow.
    """
    found = _Body(text_lines(body), games)
    found.read()
    if not found.lines:
        return None
    return Reading(tuple(found.lines), found.words, multiple=announced or len(found.lines) > 1)


class _Body:
    """A body while it is read, and what was found in it."""

    def __init__(self, text: Sequence[str], games: Collection[str]) -> None:
        self._text = text
        self._games = games
        self._commands = self._prose = self._at = self._begin = 0
        self.lines: list[Line] = []
        self.words = ""

    def read(self) -> None:
        """Read until one of the rules says stop."""
        while (line := self._next()) is not None:
            why = self._line(line)
            if why:
                if self.lines:
                    self._list_the_rest(why)
                return

    def _next(self) -> str | None:
        """The next line with those that continue it; ``None`` where the commands end."""
        while self._at < len(self._text):
            text = fold(self._text[self._at])
            if not text.strip() and self._commands:
                self.words = opponent_text(self._text[self._at + 1 :])
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
            self.lines.append(read_line(words, head, len(text), self._games))
        elif self._commands:  # a greeting above the first command needs no answer of its own
            self.lines.append(not_a_command(words, self._games))
        return "prose" if self._prose >= MOST_PROSE else ""

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
                rest.append(Line(_short(head, words), NotTried(why)))
        self.lines += rest[:MOST_NOT_TRIED]
        if len(rest) > MOST_NOT_TRIED:
            self.lines.append(Line(REST, NotTried(why, len(rest) - MOST_NOT_TRIED)))


def is_stop(words: Sequence[Word]) -> bool:
    """Whether a line says that nothing below it is to be read."""
    return words[0].text.lower().rstrip(",.;!") in STOPS


def _short(head: Head, words: Sequence[Word]) -> str:
    """A command without its arguments, some of which may be passwords."""
    assert head.row is not None
    name = f"{head.front} {head.row.name}" if head.front else head.row.name
    return f"{name} {REST}" if len(words) > head.rest else name


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
