"""Lines of a mail below its commands: words for others, and commands that are not tried.

A command in full below the end of the reading is not part of the words, since its password would
let an opponent act for the writer. The service withholds further passages
(`pbmserv.service.core.words_for_others`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from pbmserv.commands.grammar.command_names import Head, find_command, has_credentials
from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.readings import REST, Line, NotTried
from pbmserv.commands.grammar.word_forms import BOARD, is_number
from pbmserv.commands.grammar.words import Word, fold, words_of
from pbmserv.commands.table.row_types import Kind

LONGEST_WORDS = 4_000
MOST_LINES = 500
"""Lines of words for others."""
MOST_NOT_TRIED = 10
"""The most untried commands that are listed one by one."""

_MARKS = " \t>|#*\u2022-\"'"
"""Characters in front of a command that is quoted or part of a list: "* accept 12"."""


def is_signature(line: str) -> bool:
    """Return whether a line is the separator above a signature (RFC 3676 section 4.3)."""
    return line.rstrip() == "--"


def ends_text(line: str) -> bool:
    """Return whether the text of the writer ends here, above a signature or quoted text."""
    return is_signature(line) or line.lstrip().startswith(">")


def named_command(words: Sequence[Word], games: GameTitles) -> Head | None:
    """Return the head of a line that names a command, `None` for other lines."""
    head = find_command(words, games) if words else None
    return head if head is not None and head.row is not None and head.row.command else None


def with_counted_rest(lines: Sequence[Line], why: str) -> list[Line]:
    """Return the first lines that are not tried, and one line that counts the others."""
    more = len(lines) - MOST_NOT_TRIED
    rest = [Line(REST, NotTried(why, more))] if more > 0 else []
    return [*lines[:MOST_NOT_TRIED], *rest]


class LinesBelow:
    """The lines of a body below its commands: words for others, and commands that are not tried.

    Args:
        lines: all lines of the body.
        begin: index of the first line below the commands.
        games: titles of the games of this server by key.
        subject: the command of the subject, which people repeat in the body.
        why: the reason given for commands in these lines; see `NotTried`.
    """

    def __init__(
        self,
        lines: Sequence[str],
        begin: int,
        games: GameTitles,
        subject: str = "",
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
            if subject and fold(line[: len(subject) + 80]).strip() == subject:
                continue
            command = short_form_if_full(line, games)
            if command is not None:
                self._commands.append((at, Line(command, NotTried(why))))
                continue
            self._kept.append((at, line))
            room -= len(line.strip())

    def leave_out(self, at: int, text: str) -> None:
        """Report a line as not tried instead of passing it on."""
        self._kept = [(index, line) for index, line in self._kept if index != at]
        self._commands.append((at, Line(text, NotTried("apart"))))

    def words(self, begin: int = 0) -> str:
        """Return the text for opponents in the lines from *begin* on."""
        text = "\n".join([line for at, line in self._kept if at >= begin])
        return text.strip()[:LONGEST_WORDS].rstrip()

    def not_tried(self) -> tuple[Line, ...]:
        """Return the commands in full, and lines that were left out, in their order."""
        commands = [line for _, line in sorted(self._commands, key=itemgetter(0))]
        return tuple(with_counted_rest(commands, self._why))


def untried_command(words: Sequence[Word], games: GameTitles, why: str) -> Line | None:
    """Return a line that names a command as one that is not tried, `None` for other lines."""
    head = named_command(words, games)
    return None if head is None else Line(short_form(head, words), NotTried(why))


def short_form(head: Head, words: Sequence[Word]) -> str:
    """Return the name of a command, and its arguments if they are boards and not secret.

    "show 12" stays, "blackbox move 12 alice PASSWORD g" becomes "blackbox move ...".
    """
    assert head.row is not None
    name = f"{head.front} {head.row.name}" if head.front else head.row.name
    arguments = words[head.rest :]
    if not head.row.secrets and all(BOARD.fullmatch(word.text) for word in arguments):
        return " ".join((name, *(word.text for word in arguments)))
    return f"{name} {REST}" if arguments else name


def short_form_if_full(line: str, games: GameTitles) -> str | None:
    """Return the short form of a line that is a command in full, `None` for other lines."""
    text = fold(line).lstrip(_MARKS)
    label, _, behind = text.partition(":")
    words = words_of(behind if label.lower() == "subject" else text)
    head = named_command(words, games)
    if head is None or head.row is None:
        return None
    rest = words[head.rest :]
    kinds = {parameter.kind for parameter in head.row.parameters}
    if Kind.BOARD in kinds and len(words) == 2 and is_number(words[1].text):  # "accept 12"
        return f"{head.row.name} {words[1].text}"
    if Kind.NEW_PASSWORD in kinds:
        is_full = len(rest) >= head.row.min_words
    elif head.row.secrets:
        is_full = has_credentials(head.row, rest, named=bool(head.front))
    else:  # "Blackbox rules are great" is not a command
        is_full = bool(head.front and rest and is_number(rest[0].text))
    return short_form(head, words) if is_full else None
