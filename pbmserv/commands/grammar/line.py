"""Reads one line, and writes its echo: what was read, with every secret blanked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.arguments import in_order, read_places
from pbmserv.commands.grammar.command_names import Head, find_head, has_credentials, is_number
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.words import (
    BOARD,
    PLAN_WORDS,
    SHORTEST_PASSWORD,
    Word,
    quotable,
    split,
    with_bots,
    without_please,
)
from pbmserv.commands.table.catalogue import BY_NAME, MEANT_BY, example, unknown_game
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.model import STRANGER, VOUCHED, Line, Sender
from pbmserv.commands.table.row_types import Kind, Row, Trait
from pbmserv.errors import Misread, PlayerError

LONGEST_LINE = 2_000
LONGEST_QUOTED = 24
BLANK = "***"
_MOST_WORDS = 20
"""Words of a sentence in which a command is looked for."""

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
        return _once_more(partial(_unknown, words, head, games))
    front = f"{head.front} {row.name}" if head.front else row.name
    if length > LONGEST_LINE:
        return _once_more(partial(_too_long, row, front, head.game, games))
    return read_arguments(row, front, head.game, (*words[head.rest :], *head.move), games)


def read_arguments(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line:
    """The command of a row from the words behind it.

    Raises:
        ValueError: the row steers the reading and is no command by itself.
    """
    return _once_more(partial(_arguments, row, front, game, words, games))


def _once_more(reading: Callable[[Sender], Line]) -> Line:
    """A line as it is read for a stranger; one that is refused can be read for somebody, too."""
    line = reading(STRANGER)
    return replace(line, again=reading) if isinstance(line.asked, PlayerError) else line


def _too_long(
    row: Row, front: str, game: str | None, games: Collection[str], sender: Sender
) -> Line:
    sample = example(row, game, games, {}, sender)
    refused = Misread("line-too-long", example=sample, longest=LONGEST_LINE, command=row.name)
    return Line(f"{front} {REST}", refused)


def _arguments(
    row: Row,
    front: str,
    game: str | None,
    words: Sequence[Word],
    games: Collection[str],
    sender: Sender,
) -> Line:
    if Trait.BARE in row.traits and not words:
        row = replace(row, parameters=())
    words = _ordered(row, tidied(row, words))
    if Trait.NEEDS_GAME in row.traits and game is None:
        if len(games) != 1:
            return Line(
                f"{front} {REST}",
                Misread(
                    "missing-game",
                    example=example(row, None, games, {}, sender),
                    command=row.name,
                    games=", ".join(sorted(games)),
                ),
            )
        game = min(games)
    unsaid = partial(_vouched, row, front, game, words, games) if row.may_be_vouched else None
    other = row.proving
    proving = partial(_proving, other, front, game, words, games) if other is not None else None
    unnamed = partial(_unnamed, row, front, game, words, games) if row.unnamed else None
    named = _named(row, words)
    cursor = Cursor(row, game, words, games, sender)
    try:
        arguments = read_places(cursor)
    except Misread as refused:
        shown = [BLANK if i in cursor.hidden else w.raw for i, w in enumerate(words)]
        echo = " ".join((front, *shown))
        return Line(echo, refused, unsaid, proving, unnamed=unnamed, named=named)
    # "bob carol dave" may be three who get a message; "alice secret g" is no move.
    to_many = row.parameters[-1:] and row.parameters[-1].kind is Kind.RECIPIENTS
    if not row.secrets or (has_credentials(row, words, named=game is not None) and not to_many):
        unnamed = None
    echo = _echo(row, front, words)
    return Line(echo, row.build(arguments), unsaid, proving, unnamed=unnamed, named=named)


def tidied(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """The words behind a command without those that say nothing, such as "please" at their end.

    It stays where it may be a password or belong to a text, and behind what ends a game.
    """
    kinds = {parameter.kind for parameter in row.parameters}
    if Kind.PLAYERS in kinds:
        words = with_bots(words)
    if Trait.ALONE in row.traits or not kinds.isdisjoint(_TEXTS):
        return words
    last = len(words) - 1
    return words if last in row.secrets else without_please(words)


_TEXTS = frozenset({Kind.NEW_PASSWORD, Kind.MOVE, Kind.PLAN})


def _ordered(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """The words behind a command without "board" in front of its number, the board first."""
    if words and row.parameters and row.parameters[0].kind in {Kind.BOARD, Kind.SHOWN}:
        filler = words[0].text.lower() in {"board", "boards"}
        words = words[1:] if filler and len(words) > 1 and is_number(words[1].text) else words
    return in_order(row, words)


def _vouched(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line | None:
    """The line without a password in it; ``None`` if it makes no sense like that."""
    plain = row.without(Kind.PASSWORD)
    words = tidied(plain, words)
    cursor = Cursor(plain, game, in_order(plain, words), games, STRANGER)
    cursor.arguments.password = VOUCHED
    try:
        arguments = read_places(cursor)
    except Misread:
        return None
    return Line(" ".join((front, *(word.raw for word in words))), row.build(arguments))


def _named(row: Row, words: Sequence[Word]) -> str:
    """The word in the place of a userid; ``""`` where there is none, or nobody could be it."""
    kinds = [parameter.kind for parameter in row.parameters]
    if Kind.USERID not in kinds or (Kind.RECIPIENTS in kinds and len(words) < row.min_words):
        return ""
    place = kinds.index(Kind.USERID)
    return words[place].text.lower() if place < len(words) else ""


def _unnamed(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line | None:
    """The line without userid and password in it; ``None`` if it makes no sense like that."""
    assert row.unnamed is not None
    words = tidied(row.unnamed, words)
    try:
        arguments = read_places(Cursor(row.unnamed, game, words, games, STRANGER, named=False))
    except Misread:
        return None
    return Line(" ".join((front, *(word.raw for word in words))), row.build(arguments))


def _proving(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line | None:
    """Return the line with a userid and a password in it; ``None`` if it makes no sense so."""
    try:
        arguments = read_places(Cursor(row, game, words, games, STRANGER))
    except Misread:
        return None
    if BOARD.fullmatch(arguments.userid):  # "show 12 13 14"
        return None
    return Line(_echo(row, front, words), row.build(arguments))


def in_plain_words(
    text: str, games: Collection[str], instead: Row | None = None, of: Line | None = None
) -> Line | None:
    """The command that a text asks for in the plain words of its first line; ``None`` for none.

    What ends something is not done on a guess.

    Args:
        instead, of: a command whose name stands in front, and how it is read: refused, or with a
            word that may be no password. Words that mean another are better if only it is refused.
    """
    first = text.strip().partition("\n")[0]
    said = "" if first.lower() in MEANT_BY else plain_words.meant(first)
    words = words_of(said)
    head = find_head(words, games) if words else None
    if head is None or head.row is None:
        return None
    if Trait.ALONE in head.row.traits and head.row is not instead:
        return None
    line = read_line(words, head, len(said), games)
    if of is None or head.row is instead:
        return line
    is_better = isinstance(of.asked, PlayerError) and not isinstance(line.asked, PlayerError)
    return line if is_better else None


def not_a_command(words: Sequence[Word], games: Collection[str]) -> Line:
    """A line that does not even try to be a command; it may hold a password."""
    return _once_more(partial(_no_command, words, games))


def _no_command(words: Sequence[Word], games: Collection[str], sender: Sender) -> Line:
    shown = [_repeated(word) for word in words[:2]]
    echo = REST if REST in shown or len(words) > 2 else " ".join(shown)
    if len(words) > 2 and is_number(words[0].text) and _takes_a_board(words[1]):
        return Line(REST, _wrong_order(words, None, games, sender))
    weighty = plain_words.weighty(" ".join(word.text for word in words[:_MOST_WORDS]))
    begins = [words[0].plain, *weighty[:1]] if words else []
    named = next((MEANT_BY[one] for one in begins if one in MEANT_BY), "")
    said = [] if len(words) == 1 and named else _meant(words)
    row = BY_NAME.get(said[0] if said else named)
    sample = example(row, None, games, _behind(row, said, sender), sender) if row else "help"
    if row is not None and row.name == "challenge":
        sample = _challenging(row, words, games, sender)
    refused = Misread(
        "not-a-command",
        example=sample,
        suggestion=row.name if row else "",
        games=", ".join(sorted(games)),
    )
    return Line(echo, refused)


def _meant(words: Sequence[Word]) -> list[str]:
    return plain_words.meant(" ".join(word.text for word in words[:_MOST_WORDS])).split()


def _behind(row: Row, said: Sequence[str], sender: Sender) -> Mapping[Kind, str]:
    """What a command that was meant has behind its name: "-practice", "digest=off"."""
    kind = row.parameters[-1].kind if row.parameters else Kind.PASSWORD
    rest = said[1:] if BY_NAME.get(said[0] if said else "") is row else []
    if kind in {Kind.ALONE, Kind.PLAYERS}:
        rest = [sender.userid, *rest] if sender.userid and rest else []
    return {kind: " ".join(rest)} if rest and kind is not Kind.PASSWORD else {}


def without_its_word(line: Line) -> Line:
    """The line so that, if it is refused for a word that is no command, this is not repeated."""
    if not isinstance(line.asked, Misread) or line.asked.refusal.code != "unknown-command":
        return line
    refusal = line.asked.refusal
    refused = Misread(refusal.code, part="", example=refusal.example, **refusal.values)
    return replace(line, echo=REST, asked=refused, again=None)


def _repeated(word: Word) -> str:
    """A word of a line that is no command: only what cannot be a password is repeated."""
    return word.raw if word.plain in MEANT_BY else quotable(word.text) or REST


def _challenging(row: Row, words: Sequence[Word], games: Collection[str], sender: Sender) -> str:
    """The challenge that "play bob" means."""
    others = [word.plain for word in words[1:] if sender.is_player(word.plain)]
    seated = list(dict.fromkeys([sender.userid, *others]))
    right = {Kind.PLAYERS: " ".join(seated)} if sender.userid and len(seated) > 1 else {}
    return example(row, None, games, right, sender)


def _takes_a_board(word: Word) -> bool:
    row = BY_NAME.get(word.plain)
    return row is not None and bool(row.parameters) and row.parameters[0].kind is Kind.BOARD


def _wrong_order(
    words: Sequence[Word], game: str | None, games: Collection[str], sender: Sender
) -> Misread:
    """The board's number stands in front of the command, not behind it."""
    row = BY_NAME[words[1].plain]
    right = _right(row, game, (words[0], *words[2:]), games, sender)
    number = words[0].text if len(words[0].text) < LONGEST_QUOTED else ""
    sample = example(row, game, games, right, sender)
    return Misread("board-first", part=number, example=sample, command=row.name)


def _right(
    row: Row, game: str | None, words: Sequence[Word], games: Collection[str], sender: Sender
) -> Mapping[Kind, str]:
    """What examples may repeat of the words behind a command."""
    cursor = Cursor(row, game, _ordered(row, words), games, sender)
    with suppress(Misread):
        read_places(cursor)
    return cursor.right


EMPTY = Line("(an empty mail)", Help())
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
        if words[place].unclosed or (len(words) > row.min_words and _stray(row, shown)):
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


def _unknown(words: Sequence[Word], head: Head, games: Collection[str], sender: Sender) -> Line:
    """A line whose game or command is none."""
    front = f"{head.front} " if head.front else ""
    first = words[head.rest - 1 if head.unknown == "game" else head.rest].text
    first = first if len(first) <= LONGEST_QUOTED else REST
    if head.unknown == "game":
        row = BY_NAME[words[1].plain]
        right = _right(row, None, words[2:], games, sender)
        sample = example(row, head.suggestion or None, games, right, sender)
        refused = unknown_game(first, first.lower(), games, example=sample)
        return Line(f"{first} {row.name} {REST}", refused)
    rest = words[head.rest + 1 :]
    echo = f"{front}{first}" + (f" {REST}" if rest else "")
    if is_number(first) and rest and _takes_a_board(rest[0]):
        return Line(echo, _wrong_order(words[head.rest :], head.game, games, sender))
    suggested = BY_NAME.get(head.suggestion)
    if suggested is None:
        return Line(echo, Misread("unknown-command", part=first, example="help", suggestion=""))
    if suggested.name == "change password":
        sample = example(suggested, head.game, games, {}, sender)
        return Line(echo, Misread("unknown-change", example=sample))
    right = _right(suggested, head.game, rest, games, sender)
    refused = Misread(
        "unknown-command",
        part=first,
        example=example(suggested, head.game, games, right, sender),
        suggestion=suggested.name,
    )
    return Line(echo, refused)
