"""Reads one line, and writes its echo: what was read, with every secret blanked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise

from pbmserv.commands.arguments import in_order, read_places
from pbmserv.commands.catalogue import BY_NAME
from pbmserv.commands.cursor import Cursor
from pbmserv.commands.examples import example, unknown_game
from pbmserv.commands.forms import Kind, Row
from pbmserv.commands.heads import Head, is_number
from pbmserv.commands.model import VOUCHED, Help, Line
from pbmserv.commands.spelling import PLAN_WORDS, SHORTEST_PASSWORD, quotable
from pbmserv.commands.words import Word, split
from pbmserv.errors import Misread

LONGEST_LINE = 2_000
LONGEST_QUOTED = 24
BLANK = "***"
REST = "..."


def words_of(text: str) -> list[Word]:
    """The words of a line that may be longer than `LONGEST_LINE`, as far as that.

    A whole line in quotes is read as what stands between them.
    """
    words = split(text[: LONGEST_LINE + 1])
    if len(words) == 1 and words[0].raw != words[0].text:
        return split(words[0].text)
    return words


def read_line(words: Sequence[Word], head: Head, length: int, games: Collection[str]) -> Line:
    """The command of a line whose head was found, or why it cannot be read."""
    row = head.row
    if row is None:
        return _unknown(words, head, games)
    front = f"{head.front} {row.name}" if head.front else row.name
    if length > LONGEST_LINE:
        sample = example(row, head.game, games)
        return Line(
            f"{front} {REST}",
            Misread("line-too-long", example=sample, longest=LONGEST_LINE, command=row.name),
        )
    return read_arguments(row, front, head.game, (*words[head.rest :], *head.move), games)


def read_arguments(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line:
    """The command of a row from the words behind it.

    Raises:
        ValueError: the row steers the reading and is no command by itself.
    """
    if row.build is None:
        raise ValueError(f"{row.name} asks for nothing by itself")
    if words and row.parameters and row.parameters[0].kind in {Kind.BOARD, Kind.SHOWN}:
        filler = words[0].text.lower() in {"board", "boards"}
        words = words[1:] if filler and len(words) > 1 and is_number(words[1].text) else words
    words = in_order(row, words)
    if row.needs_game and game is None:
        if len(games) != 1:
            return Line(
                f"{front} {REST}",
                Misread(
                    "missing-game",
                    example=example(row, None, games),
                    command=row.name,
                    games=", ".join(sorted(games)),
                ),
            )
        game = min(games)
    unsaid = partial(_vouched, row, front, game, words, games) if row.may_be_vouched else None
    cursor = Cursor(row, game, words, games)
    try:
        taken = read_places(cursor)
    except Misread as refused:
        shown = [BLANK if i in cursor.hidden else w.raw for i, w in enumerate(words)]
        return Line(" ".join((front, *shown)), refused, unsaid)
    return Line(_echo(row, front, words), row.build(game, taken), unsaid)


def _vouched(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line | None:
    """The line without a password in it; ``None`` if it makes no sense like that."""
    assert row.build is not None
    plain = row.without(Kind.PASSWORD)
    cursor = Cursor(plain, game, in_order(plain, words), games)
    cursor.taken.password = VOUCHED
    try:
        taken = read_places(cursor)
    except Misread:
        return None
    return Line(" ".join((front, *(word.raw for word in words))), row.build(game, taken))


def not_a_command(words: Sequence[Word], games: Collection[str]) -> Line:
    """A line that does not even try to be a command; it may hold a password."""
    shown = [quotable(word.text) or REST for word in words[:2]]
    return Line(
        REST if REST in shown or len(words) > 2 else " ".join(shown),
        Misread("not-a-command", example="help", suggestion="", games=", ".join(sorted(games))),
    )


HELP = Line("help", Help())
"""What a mail with nothing in it is read as."""


def _echo(row: Row, front: str, words: Sequence[Word]) -> str:
    """The line with its secrets blanked, wherever they stand."""
    secrets = row.secrets
    if not secrets:
        return " ".join([front, *[word.raw for word in words]])
    shown = [word.raw for word in words]
    for place in secrets:
        text = words[place].text
        # A password with a blank and no quotes goes on in the next words.
        if words[place].unclosed or (len(words) > row.least and _stray(row, shown)):
            shown[place:] = [BLANK] * (len(shown) - place)
        elif len(text) < SHORTEST_PASSWORD and text != "-":  # so the password is another word
            shown = [BLANK] * len(shown)
        else:
            shown = [BLANK if text in raw and text != "-" else raw for raw in shown]
        shown[place] = BLANK
    return " ".join([front, *shown])


def _stray(row: Row, words: Sequence[str]) -> bool:
    """Whether there is a blank that nothing explains: perhaps a word too much before it."""
    last = row.parameters[-1]
    if not last.rest:
        return False
    signs = ",#" if last.kind is Kind.MOVE else ",#;:()="
    pairs = pairwise(words[len(row.parameters) - 1 :])
    strays = [(a, b) for a, b in pairs if a[-1] not in signs and b[0] not in signs]
    if last.kind is Kind.PLAN:
        strays = [pair for pair in strays if not PLAN_WORDS & {word.lower() for word in pair}]
    return bool(strays)


def _unknown(words: Sequence[Word], head: Head, games: Collection[str]) -> Line:
    """A line whose game or command is none."""
    front = f"{head.front} " if head.front else ""
    first = words[head.rest - 1 if head.unknown == "game" else head.rest].text
    first = first if len(first) <= LONGEST_QUOTED else REST
    if head.unknown == "game":
        row = BY_NAME[words[1].text.lower().rstrip(":,.;!")]
        right = {Kind.BOARD: words[2].text.lstrip("#")} if is_number(words[2].text) else {}
        sample = example(row, head.suggestion or None, games, right)
        refused = unknown_game(first, first.lower(), games, example=sample)
        return Line(f"{first} {row.name} {REST}", refused)
    suggested = BY_NAME.get(head.suggestion)
    refused = Misread(
        "unknown-command",
        part=first,
        example=example(suggested, head.game, games) if suggested else "help",
        suggestion=head.suggestion,
    )
    return Line(f"{front}{first}" + (f" {REST}" if len(words) > head.rest + 1 else ""), refused)
