"""What stands below the commands of a mail: words for an opponent, and commands that were not read.

A command in full is nobody's words, since its password would let their reader act for its writer.
What else is not passed on the service knows (`pbmserv.service.passing_on`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter

from pbmserv.commands.grammar.command_names import Head, find_command, is_number
from pbmserv.commands.grammar.credentials import has_credentials
from pbmserv.commands.grammar.line import REST, words_of
from pbmserv.commands.grammar.spelling import BOARD
from pbmserv.commands.grammar.words import Word, fold
from pbmserv.commands.table.model import Line, NotTried
from pbmserv.commands.table.row_types import Kind

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
        text = "\n".join(line for at, line in self._kept if at >= begin)
        return text.strip()[:LONGEST_WORDS].rstrip()

    def not_tried(self, begin: int = 0) -> tuple[Line, ...]:
        """Commands in full among the lines from *begin* on, which are no words for anybody."""
        found = [line for at, line in sorted(self._commands, key=itemgetter(0)) if at >= begin]
        more = len(found) - MOST_NOT_TRIED
        rest = (Line(REST, NotTried(self._why, more)),) if more > 0 else ()
        return (*found[:MOST_NOT_TRIED], *rest)


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
    head = find_command(words, games) if words else None
    if head is None or head.row is None or head.row.build is None:
        return None
    rest = words[head.rest :]
    if Kind.NEW_PASSWORD in {parameter.kind for parameter in head.row.parameters}:
        is_one = len(rest) >= head.row.least
    elif head.row.secrets:
        is_one = has_credentials(head.row, rest, named=bool(head.front))
    else:  # "Blackbox rules are great" is none
        is_one = bool(head.front and rest and is_number(rest[0].text))
    return short(head, words) if is_one else None
