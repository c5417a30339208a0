"""Reads the command lines of a body.

    Hello,                                   a greeting: no command, and no answer
    blackbox move 12 alice PASSWORD g
    message alice PASSWORD bob               a command that carries words for others
                                             the first blank line ends the commands
    See you tomorrow!                        words for bob
    --                                       a signature ends everything

A line that is indented further than the command above it continues that command. The lines below
the commands are for `lines_below`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.grammar.command_names import Head, find_head
from pbmserv.commands.grammar.courtesies import begins_with_greeting
from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.line import read_line
from pbmserv.commands.grammar.readings import REST, Line, NotTried, Reading
from pbmserv.commands.grammar.unknown_lines import not_a_command, without_unknown_word
from pbmserv.commands.grammar.word_forms import quotable
from pbmserv.commands.grammar.words import Word, fold, words_of
from pbmserv.commands.reading.lines_below import (
    LinesBelow,
    ends_text,
    untried_command,
    with_counted_rest,
)
from pbmserv.commands.table import playing, starting
from pbmserv.commands.table.catalogue import BY_NAME, STOPS
from pbmserv.commands.table.command_types import Command
from pbmserv.commands.table.row_types import Trait
from pbmserv.errors import Misread

MOST_COMMANDS = 50
"""Commands of a mail; those below are listed as not tried."""
MOST_PROSE = 5
"""Lines that are no command, after which reading ends: the mail is a text, and not commands."""
_FOR_OTHERS = frozenset({playing.SECTION, starting.SECTION})
"""Sections of commands that may carry words for others."""

_SENTENCE_WORDS = frozenset(
    ("i", "we", "would", "shall", "let's", "lets", "how", "do", "want", "care")
)
"""First words of a line below a challenge that is a message: "Would you like to play?"."""

_MOST_GREETING = 4
"""Words of a line that is only a greeting: "Hello dear pbmserv server"."""
_FEWEST_WORDS = 3
"""Words of a line below a challenge that is a message to the opponent; fewer may be a name."""

MOST_LOOKED_AT = 500
"""Lines below the end of the reading that are searched for commands."""


def read_body(body: str, games: GameTitles, *, announced: bool = False) -> Reading | None:
    """Read the commands of a body, one a line.

    Args:
        body: the text of the mail.
        games: titles of the games of this server by key.
        announced: whether the subject says that several commands follow. A body without commands
            is refused then.

    Returns:
        The reading, or `None` if the body has no commands and none were announced.
    """
    reader = _BodyReader(body.split("\n"), games, announced=announced)
    reader.read()
    if not reader.lines:
        if not announced:
            return None
        refused = Misread("no-commands", example="list", stopped=reader.stopped_by)
        return Reading((Line("multiple", refused),), "", True)
    return Reading(tuple(reader.lines), reader.words, multiple=announced or len(reader.lines) > 1)


class _BodyReader:
    """A reader of one body.

    Attributes:
        lines: the commands.
        words: the text for opponents.
        stopped_by: the reason why reading ended early, ``""`` if it did not; see `NotTried`.
    """

    def __init__(self, text: Sequence[str], games: GameTitles, *, announced: bool) -> None:
        self._text = text
        self._games = games
        self._announced = announced
        self._at = 0  # place of the next line to read
        self._begin = 0  # place of the line that was read last, without its continuation lines
        self._words_at = 0  # place where the words for others begin, 0 for none
        self._command_count = 0
        self._prose_count = 0
        self._expects_words = False  # whether words may follow the last command
        self._after_challenge = False
        self._has_carrier = False  # whether any command may carry words
        self.lines: list[Line] = []
        self.words = ""
        self.stopped_by = ""

    def read(self) -> None:
        """Read commands until a rule stops the reading, then the text below them."""
        while (line := self._next()) is not None:
            self.stopped_by = self._line(line)
            if self.stopped_by:
                if self.lines:
                    self._list_the_rest(self.stopped_by)
                break
            if self._words_follow():
                self._words_at = self._at
                break
        if self._words_at and self._announced and not self._has_carrier:
            self._list_below()
        elif self._words_at:
            is_blank = not self._text[self._words_at - 1].strip()
            why = "blank" if is_blank else "below"
            below = LinesBelow(self._text, self._words_at, self._games, why=why)
            self.words = below.words()
            self.lines += below.not_tried()

    def _next(self) -> str | None:
        """Return the next line with its continuation lines, `None` at the end of the commands."""
        while self._at < len(self._text):
            text = fold(self._text[self._at])
            if not text.strip() and self._command_count:
                self._words_at = self._at + 1
                return None
            if ends_text(text):
                return None
            if text.strip() and not text.startswith("#"):
                self._begin = self._at
                self._at, text = join_continuation(self._text, self._at)
                return text
            self._at += 1
        return None

    def _line(self, text: str) -> str:
        """Read one line, and return the reason to stop reading, ``""`` for none."""
        words = words_of(text)
        if not words:
            return ""
        if is_stop(words):
            return "stop"
        head = find_head(words, self._games)
        if head is None or (head.row is None and not head.front):
            self._prose_count += 1
        if head is not None:
            self._command_count += 1
            if self._command_count > MOST_COMMANDS:
                self._at = self._begin
                return "limit"
            self._command(words, head, len(text))
        elif self._announced and not _is_greeting(text, words):
            self.lines.append(
                _with_line_number(not_a_command(words, self._games), words, self._begin)
            )
            self._expects_words = False
        elif self._command_count:  # a greeting above the first command needs no answer of its own
            self.lines.append(not_a_command(words, self._games))
            self._expects_words = False
        return "prose" if self._prose_count >= MOST_PROSE else ""

    def _command(self, words: Sequence[Word], head: Head, length: int) -> None:
        """Read a line that begins like a command."""
        line = read_line(words, head, length, self._games)
        # A word alone below a command may be its password, which a mail program has wrapped.
        is_alone = len(words) == 1 and self._command_count > 1
        self.lines.append(without_unknown_word(line) if is_alone else line)
        self._after_challenge = head.row is not None and head.row.name == "challenge"
        self._expects_words = self._after_challenge or _carries_words(head, line)
        self._has_carrier |= head.row is not None and head.row.section in _FOR_OTHERS

    def _words_follow(self) -> bool:
        """Return whether words for others follow the last command instead of a command."""
        if not self._expects_words:
            return False
        text = fold(self._text[self._at]) if self._at < len(self._text) else ""
        words = words_of(text)
        if not words or is_stop(words):
            return False
        greets = begins_with_greeting(text.strip())
        is_short = len(words) < _FEWEST_WORDS and not greets
        if self._after_challenge and (self._announced or is_short):
            return False
        head = find_head(words, self._games)
        is_sentence = greets or words[0].plain in _SENTENCE_WORDS
        return head is None or (head.row is None and is_sentence)

    def _list_the_rest(self, why: str) -> None:
        """List the commands below the end of the reading, or all lines if they were announced."""
        rest: list[Line] = []
        for _ in range(MOST_LOOKED_AT):
            line = self._next()
            if line is None:
                break
            words = words_of(line)
            command = untried_command(words, self._games, why)
            if command is not None:
                rest.append(command)
            elif words and self._announced and why != "stop":
                rest.append(Line(_numbered_line(words, self._begin), NotTried(why)))
        self.lines += with_counted_rest(rest, why)

    def _list_below(self) -> None:
        """List the commands below a blank line if no command above can carry them as a message."""
        lines: list[Line] = []
        for text in self._text[self._words_at : self._words_at + MOST_LOOKED_AT]:
            line = fold(text)
            if ends_text(line):
                break
            command = untried_command(words_of(line), self._games, "blank")
            if command is not None:
                lines.append(command)
        self.lines += with_counted_rest(lines, "blank")


def _is_greeting(text: str, words: Sequence[Word]) -> bool:
    """Return whether a line only says hello and needs no answer."""
    return len(words) <= _MOST_GREETING and begins_with_greeting(text)


def _numbered_line(words: Sequence[Word], at: int) -> str:
    """Return the number of a line and those of its words that cannot be a password."""
    shown = [word.raw if word.plain in BY_NAME else quotable(word.text) or REST for word in words]
    without_repeats = [
        word for n, word in enumerate(shown[:6]) if n == 0 or (word, REST) != (REST, shown[n - 1])
    ]
    return f"line {at + 1}: {' '.join(without_repeats)}"


def _with_line_number(line: Line, words: Sequence[Word], at: int) -> Line:
    """Return the refusal of a line with an echo by which its writer finds the line."""
    label = _numbered_line(words, at)
    for_sender = line.for_sender
    if for_sender is None:
        return replace(line, echo=label)
    return replace(
        line, echo=label, for_sender=lambda sender: replace(for_sender(sender), echo=label)
    )


def _carries_words(head: Head, line: Line) -> bool:
    """Return whether a command was read that carries words for others."""
    row = head.row
    if row is None or Trait.WORDS not in row.traits:
        return False
    readings = (
        reading() for reading in (line.without_password, line.without_writer) if reading is not None
    )
    return isinstance(line.meaning, Command) or any(readings)


def is_stop(words: Sequence[Word]) -> bool:
    """Return whether a line ends the reading."""
    return words[0].text.lower().rstrip(",.;!") in STOPS


def join_continuation(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Join a line with the following lines that are indented further.

    Returns:
        The index of the next line, and the text.
    """
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
