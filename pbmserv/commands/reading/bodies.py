"""Finds the command lines of a body, where reading stops, and what stands below them.

Below are words for an opponent, and commands that were not read. A command in full is nobody's
words, since its password would let their reader act for its writer. What else is not passed on the
service knows (`pbmserv.service.core.words_for_others`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import itemgetter

from pbmserv.commands.grammar.command_names import (
    Head,
    find_command,
    find_head,
    has_credentials,
    is_number,
)
from pbmserv.commands.grammar.line import (
    REST,
    not_a_command,
    read_line,
    without_its_word,
    words_of,
)
from pbmserv.commands.grammar.words import BOARD, Word, fold, quotable
from pbmserv.commands.table import playing, starting
from pbmserv.commands.table.catalogue import BY_NAME, STOPS
from pbmserv.commands.table.model import Command, Line, NotTried, Reading
from pbmserv.commands.table.row_types import Kind, Trait
from pbmserv.errors import Misread

MOST_COMMANDS = 50
MOST_PROSE = 5
_FOR_OTHERS = frozenset({playing.SECTION, starting.SECTION})
"""Sections whose commands may take words along."""

_HELLO = frozenset(
    {"hi", "hello", "hey", "dear", "hallo", "hola", "salut", "bonjour", "ciao", "moin"}
)
_SAYS = _HELLO | {"i", "we", "would", "shall", "let's", "lets", "how", "do", "want", "care"}
_MOST_GREETING = 4
_LEAST_SAID = 3
"""Words of a line right below a challenge that are for whom it asks; fewer may be a name."""

MOST_LOOKED_AT = 500
"""Lines below the end of the reading in which commands are looked for."""


def read_body(body: str, games: Collection[str], *, announced: bool = False) -> Reading | None:
    """The commands of a body, one a line, or ``None`` when it has none.

    *announced*: the subject says that several commands follow, so it is refused if none does.
    """
    found = _Body(body.split("\n"), games, announced=announced)
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

    def __init__(self, text: Sequence[str], games: Collection[str], *, announced: bool) -> None:
        self._text = text
        self._games = games
        self._announced = announced
        self._commands = self._prose = self._at = self._begin = self._words_at = 0
        self._speaks = self._asks = self._carries = False
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
        if self._words_at and self._announced and not self._carries:
            self._list_below()
        elif self._words_at:
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
            self._asks = head.row is not None and head.row.name == "challenge"
            self._speaks = self._asks or _speaks(head, read)
            self._carries |= head.row is not None and head.row.section in _FOR_OTHERS
        elif self._announced and not _greets(words):
            self.lines.append(_numbered(not_a_command(words, self._games), words, self._begin))
            self._speaks = False
        elif self._commands:  # a greeting above the first command needs no answer of its own
            self.lines.append(not_a_command(words, self._games))
            self._speaks = False
        return "prose" if self._prose >= MOST_PROSE else ""

    def _words_follow(self) -> bool:
        """Whether what was read last carries words, and no command stands right below it."""
        if not self._speaks:
            return False
        words = words_of(fold(self._text[self._at])) if self._at < len(self._text) else []
        if not words or is_stop(words):
            return False
        if self._asks and (self._announced or len(words) < _LEAST_SAID):
            return False
        head = find_head(words, self._games)
        return head is None or (head.row is None and words[0].plain.strip(",.!") in _SAYS)

    def _list_the_rest(self, why: str) -> None:
        """Name the commands that stand below the line at which the reading stopped; where all
        lines should be commands, each of them."""
        rest: list[Line] = []
        for _ in range(MOST_LOOKED_AT):
            line = self._next()
            if line is None:
                break
            words = words_of(line)
            head = _command(words, self._games)
            if head is not None:
                rest.append(Line(short(head, words), NotTried(why)))
            elif words and self._announced and why != "stop":
                rest.append(Line(_named(words, self._begin), NotTried(why)))
        self.lines += _first_of(rest, why)

    def _list_below(self) -> None:
        """Name the commands below a blank line, where they are nobody's words, either."""
        found: list[Line] = []
        for text in self._text[self._words_at : self._words_at + MOST_LOOKED_AT]:
            line = fold(text)
            if is_signature(line) or line.lstrip().startswith(">"):
                break
            words = words_of(line)
            head = _command(words, self._games)
            if head is not None:
                found.append(Line(short(head, words), NotTried("blank")))
        self.lines += _first_of(found, "blank")


def _command(words: Sequence[Word], games: Collection[str]) -> Head | None:
    """The head of a line that names a command which can be carried out."""
    head = find_command(words, games) if words else None
    return head if head is not None and head.row is not None and head.row.command else None


def _first_of(lines: Sequence[Line], why: str) -> list[Line]:
    """The first lines that are not tried, and how many there are more."""
    more = len(lines) - MOST_NOT_TRIED
    rest = [Line(REST, NotTried(why, more))] if more > 0 else []
    return [*lines[:MOST_NOT_TRIED], *rest]


def _greets(words: Sequence[Word]) -> bool:
    """Whether a line only says hello, so that nobody misses it in an answer."""
    return len(words) <= _MOST_GREETING and words[0].plain in _HELLO


def _named(words: Sequence[Word], at: int) -> str:
    """A line that is no command, by its number and by what of it can be no password."""
    shown = [word.raw if word.plain in BY_NAME else quotable(word.text) or REST for word in words]
    told = [
        word for n, word in enumerate(shown[:6]) if n == 0 or (word, REST) != (REST, shown[n - 1])
    ]
    return f"line {at + 1}: {' '.join(told)}"


def _numbered(line: Line, words: Sequence[Word], at: int) -> Line:
    """A line that is no command, under the name by which its writer finds it."""
    again = line.again
    if again is None:
        return replace(line, echo=_named(words, at))
    return replace(
        line,
        echo=_named(words, at),
        again=lambda sender: replace(again(sender), echo=_named(words, at)),
    )


def _speaks(head: Head, read: Line) -> bool:
    """Whether a command was read that has words for others below it."""
    row = head.row
    if row is None or Trait.WORDS not in row.traits:
        return False
    others = (one() for one in (read.unsaid, read.unnamed) if one is not None)
    return isinstance(read.asked, Command) or any(others)


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


LONGEST_WORDS = 4_000
MOST_LINES = 500
"""Lines of words that are passed on."""
MOST_NOT_TRIED = 10
"""Commands below the end of the reading that are listed one by one."""

_MARKS = " \t>|#*\u2022-\"'"
"""What may stand in front of a command that is quoted or listed."""


def is_signature(line: str) -> bool:
    """Whether the line is the mark above a signature (RFC 3676 section 4.3)."""
    return line.rstrip() == "--"


class Below:
    """The lines of a body from some place on, read once.

    Args:
        lines: all lines of the body.
        begin: the first of them that is below the commands.
        known: what has been carried out already; people write it into subject and body.
        why: what is said of commands in these lines; see `NotTried`.
    """

    def __init__(
        self,
        lines: Sequence[str],
        begin: int,
        games: Collection[str],
        known: str = "",
        why: str = "below",
    ) -> None:
        self._why = why
        self._kept: list[tuple[int, str]] = []
        self._commands: list[tuple[int, Line]] = []
        room = LONGEST_WORDS
        for at in range(begin, min(len(lines), begin + MOST_LINES)):
            line = lines[at]
            if is_signature(line) or room <= 0:
                break
            if line.startswith(">"):
                continue
            if known and fold(line[: len(known) + 80]).strip() == known:
                continue
            command = in_full(line, games)
            if command is not None:
                self._commands.append((at, Line(command, NotTried(why))))
                continue
            self._kept.append((at, line))
            room -= len(line.strip())

    def leave_out(self, at: int, text: str) -> None:
        """Pass a line on to nobody, but say that it was not tried."""
        self._kept = [one for one in self._kept if one[0] != at]
        self._commands.append((at, Line(text, NotTried("apart"))))

    def words(self, begin: int = 0) -> str:
        """The text for an opponent in the lines from *begin* on."""
        text = "\n".join([line for at, line in self._kept if at >= begin])
        return text.strip()[:LONGEST_WORDS].rstrip()

    def not_tried(self, begin: int = 0) -> tuple[Line, ...]:
        """Commands in full among the lines from *begin* on, which are no words for anybody."""
        if not self._commands:
            return ()
        found = [line for at, line in sorted(self._commands, key=itemgetter(0)) if at >= begin]
        return tuple(_first_of(found, self._why))


def short(head: Head, words: Sequence[Word]) -> str:
    """A command without its arguments, some of which may be passwords; boards are none."""
    assert head.row is not None
    name = f"{head.front} {head.row.name}" if head.front else head.row.name
    behind = words[head.rest :]
    if not head.row.secrets and all(BOARD.fullmatch(word.text) for word in behind):
        return " ".join((name, *(word.text for word in behind)))
    return f"{name} {REST}" if behind else name


def in_full(line: str, games: Collection[str]) -> str | None:
    """How a line is named that is a command as it stands in a subject; ``None`` for words."""
    text = fold(line).lstrip(_MARKS)
    label, _, behind = text.partition(":")
    words = words_of(behind if label.lower() == "subject" else text)
    head = _command(words, games)
    if head is None or head.row is None:
        return None
    rest = words[head.rest :]
    kinds = {parameter.kind for parameter in head.row.parameters}
    if Kind.BOARD in kinds and len(words) == 2 and is_number(words[1].text):  # "accept 12"
        return f"{head.row.name} {words[1].text}"
    if Kind.NEW_PASSWORD in kinds:
        is_one = len(rest) >= head.row.min_words
    elif head.row.secrets:
        is_one = has_credentials(head.row, rest, named=bool(head.front))
    else:  # "Blackbox rules are great" is none
        is_one = bool(head.front and rest and is_number(rest[0].text))
    return short(head, words) if is_one else None
