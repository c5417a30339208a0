"""Finds the command lines of a body, where reading stops, and what is left for an opponent."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.commands.catalogue import BY_NAME, STOPS
from pbmserv.commands.examples import example
from pbmserv.commands.heads import find_head
from pbmserv.commands.line import REST, not_a_command, read_line, words_of
from pbmserv.commands.model import Line, Reading
from pbmserv.commands.words import fold
from pbmserv.errors import Misread

MOST_COMMANDS = 50
MOST_PROSE = 5
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


def is_signature(line: str) -> bool:
    """Whether the line is the mark above a signature (RFC 3676 section 4.3)."""
    return line.rstrip() == "--"


def opponent_text(lines: Sequence[str]) -> str:
    """The text for an opponent in these lines: no quoted lines, nothing from the signature on."""
    kept: list[str] = []
    for line in lines:
        if is_signature(line):
            break
        if not line.startswith(">"):
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
        self._commands = self._prose = self._at = 0
        self.lines: list[Line] = []
        self.words = ""

    def read(self) -> None:
        """Read until one of the rules says stop."""
        while self._at < len(self._text):
            text = fold(self._text[self._at])
            if not text.strip() and self._commands:
                self.words = opponent_text(self._text[self._at + 1 :])
                return
            if is_signature(text) or text.lstrip().startswith(">"):
                return
            if not text.strip() or text.startswith("#"):
                self._at += 1
                continue
            self._at, text = _continued(self._text, self._at)
            if not self._line(text):
                return

    def _line(self, text: str) -> bool:
        """Take one line in; whether to read on."""
        words = words_of(text)
        if not words:
            return True
        if words[0].text.lower().rstrip(",.;!") in STOPS:
            return False
        head = find_head(words, self._games)
        if head is None:
            self._prose += 1
            if self._commands:  # a greeting above the first command needs no answer of its own
                self.lines.append(not_a_command(words, self._games))
            return self._prose < MOST_PROSE
        self._commands += 1
        if self._commands > MOST_COMMANDS:
            self.lines.append(_too_many(self._games))
            return False
        self.lines.append(read_line(words, head, len(text), self._games))
        return True


def _continued(lines: Sequence[str], at: int) -> tuple[int, str]:
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


def _too_many(games: Collection[str]) -> Line:
    return Line(
        REST,
        Misread(
            "too-many-commands", example=example(BY_NAME["help"], None, games), most=MOST_COMMANDS
        ),
    )
