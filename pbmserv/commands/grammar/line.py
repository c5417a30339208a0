"""Reads one line into a command and its echo, in which every secret is replaced by ``***``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.arguments import in_order, read_parameters
from pbmserv.commands.grammar.command_names import Head, find_head, has_credentials, is_number
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.examples import STRANGER, Sender, example, unknown_game
from pbmserv.commands.grammar.readings import Line
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
from pbmserv.commands.table.catalogue import BY_NAME, MEANT_BY
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.model import VOUCHED, Command
from pbmserv.commands.table.row_types import Kind, Row, Trait
from pbmserv.errors import Misread, PlayerError

LONGEST_LINE = 2_000
LONGEST_QUOTED = 24
BLANK = "***"
_MOST_WORDS = 20
"""Words of a sentence that are searched for a command."""

REST = "..."


def words_of(text: str) -> list[Word]:
    """Return the words of a line, cut behind `LONGEST_LINE`.

    If the whole line is in quotes, they are ignored.
    """
    words = split(text[: LONGEST_LINE + 1])
    if len(words) == 1 and words[0].raw != words[0].text:
        return split(words[0].text)
    return words


def read_line(words: Sequence[Word], head: Head, length: int, games: Collection[str]) -> Line:
    """Read a line whose head is known."""
    row = head.row
    if row is None:
        return _read_without_sender(partial(_unknown_word, words, head, games))
    front = f"{head.front} {row.name}" if head.front else row.name
    if length > LONGEST_LINE:
        return _read_without_sender(partial(_too_long, row, front, head.game, games))
    return read_arguments(row, front, head.game, (*words[head.rest :], *head.move), games)


def read_arguments(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: Collection[str]
) -> Line:
    """Read the command of a row.

    Args:
        row: the command.
        front: the words of the echo in front of the arguments.
        game: the game that the line names, `None` for none.
        words: the words behind the command.
        games: keys of the games of this server.

    Raises:
        ValueError: the row steers the reading and is not a command.
    """
    return _read_without_sender(_CommandLine(row, front, game, words, games).read)


def _read_without_sender(reading: Callable[[Sender], Line]) -> Line:
    """Read a line without facts about its sender. If it is refused, let it be read with them."""
    line = reading(STRANGER)
    return replace(line, for_sender=reading) if isinstance(line.meaning, PlayerError) else line


def _too_long(
    row: Row, front: str, game: str | None, games: Collection[str], sender: Sender
) -> Line:
    sample = example(row, game, games, {}, sender)
    refusal = Misread("line-too-long", example=sample, longest=LONGEST_LINE, command=row.name)
    return Line(f"{front} {REST}", refusal)


@dataclass(frozen=True, slots=True)
class _CommandLine:
    """A line whose command is known; its arguments can be read in several ways.

    See `read_arguments` for the attributes.
    """

    row: Row
    front: str
    game: str | None
    words: Sequence[Word]
    games: Collection[str]

    def read(self, sender: Sender) -> Line:
        """Read the line as it is, and offer the other ways that its command allows."""
        row, words = self.row, self.words
        if Trait.BARE in row.traits and not words:
            row = replace(row, parameters=())
        words = _board_first(row, without_filler(row, words))
        game = self.game
        if Trait.NEEDS_GAME in row.traits and game is None:
            game = next(iter(self.games))
        line = replace(self, row=row, game=game, words=words)
        without_password = line.without_password if row.may_be_vouched else None
        with_proof = line.with_proof if row.with_proof is not None else None
        without_writer = line.without_writer if row.without_writer else None
        cursor = Cursor(row, game, words, self.games, sender)
        meaning: Command | Misread
        try:
            meaning = row.build(read_parameters(cursor))
        except Misread as refusal:
            meaning = refusal
            shown = [BLANK if i in cursor.hidden else word.raw for i, word in enumerate(words)]
            echo = " ".join((self.front, *shown))
        else:
            echo = _echo(row, self.front, words)
            # "bob carol dave" may be three recipients of a message; "alice secret g" is not a move.
            to_many = row.parameters[-1:] and row.parameters[-1].kind is Kind.RECIPIENTS
            is_complete = has_credentials(row, words, named=game is not None) and not to_many
            if is_complete or not row.secrets:
                without_writer = None
        return Line(
            echo,
            meaning,
            without_password=without_password,
            with_proof=with_proof,
            without_writer=without_writer,
            userid_word=_userid_word(row, words),
        )

    def without_password(self) -> Line | None:
        """Read the line as if it had no password, `None` if that makes no sense."""
        row = self.row.without(Kind.PASSWORD)
        words = without_filler(row, self.words)
        cursor = Cursor(row, self.game, in_order(row, words), self.games, STRANGER)
        cursor.arguments.password = VOUCHED
        return self._bare_line(cursor, words)

    def without_writer(self) -> Line | None:
        """Read the line as if it named no writer, `None` if that makes no sense."""
        row = self.row.without_writer
        assert row is not None
        words = without_filler(row, self.words)
        cursor = Cursor(row, self.game, words, self.games, STRANGER, named=False)
        return self._bare_line(cursor, words)

    def _bare_line(self, cursor: Cursor, words: Sequence[Word]) -> Line | None:
        """Read a line that has no secrets, `None` if it cannot be read."""
        try:
            arguments = read_parameters(cursor)
        except Misread:
            return None
        echo = " ".join((self.front, *(word.raw for word in words)))
        return Line(echo, cursor.row.build(arguments))

    def with_proof(self) -> Line | None:
        """Read the line with an added userid and password, `None` if that makes no sense."""
        row = self.row.with_proof
        assert row is not None
        cursor = Cursor(row, self.game, self.words, self.games, STRANGER)
        try:
            arguments = read_parameters(cursor)
        except Misread:
            return None
        if BOARD.fullmatch(arguments.userid):  # "show 12 13 14"
            return None
        return Line(_echo(row, self.front, self.words), row.build(arguments))


def without_filler(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words behind a command without filler words, such as "please" at the end.

    "Please" stays if it may be a password or part of a text, and behind a command that must stand
    alone.
    """
    kinds = {parameter.kind for parameter in row.parameters}
    if Kind.PLAYERS in kinds:
        words = with_bots(words)
    if Trait.ALONE in row.traits or not kinds.isdisjoint(_TEXTS):
        return words
    last = len(words) - 1
    return words if last in row.secrets else without_please(words)


_TEXTS = frozenset({Kind.NEW_PASSWORD, Kind.MOVE, Kind.PLAN})


def _board_first(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words with the number of the board first, without "board" in front of it."""
    begins_with_board = row.parameters and row.parameters[0].kind in {Kind.BOARD, Kind.SHOWN}
    if begins_with_board and len(words) > 1 and words[0].text.lower() in {"board", "boards"}:
        words = words[1:] if is_number(words[1].text) else words
    return in_order(row, words)


def _userid_word(row: Row, words: Sequence[Word]) -> str:
    """Return the word in the place of the userid, ``""`` for none."""
    kinds = [parameter.kind for parameter in row.parameters]
    if Kind.USERID not in kinds or (Kind.RECIPIENTS in kinds and len(words) < row.min_words):
        return ""
    place = kinds.index(Kind.USERID)
    return words[place].text.lower() if place < len(words) else ""


def in_plain_words(text: str, games: Collection[str]) -> Line | None:
    """Return the command that the first line of a text means in plain words, `None` for none.

    A command that must stand alone is not guessed.

    Args:
        text: the subject or body.
        games: keys of the games of this server.
    """
    command, words, head = _plain_head(text, games)
    if head is None or head.row is None or Trait.ALONE in head.row.traits:
        return None
    return read_line(words, head, len(command), games)


def better_in_plain_words(text: str, games: Collection[str], row: Row, line: Line) -> Line | None:
    """Return what a text means in plain words if that is better than its literal reading.

    It is better if the plain words mean the command that the text names. If they mean another one,
    it is better if the literal reading was refused and this one is not.

    Args:
        text: the subject, which begins with the name of a command.
        games: keys of the games of this server.
        row: the command that the text names.
        line: the literal reading.
    """
    command, words, head = _plain_head(text, games)
    if head is None or head.row is None:
        return None
    if head.row is row:
        return read_line(words, head, len(command), games)
    if Trait.ALONE in head.row.traits or not isinstance(line.meaning, PlayerError):
        return None
    plain_line = read_line(words, head, len(command), games)
    return None if isinstance(plain_line.meaning, PlayerError) else plain_line


def _plain_head(text: str, games: Collection[str]) -> tuple[str, list[Word], Head | None]:
    """Return the command that a text means in plain words, its words and its head."""
    first = text.strip().partition("\n")[0]
    command = "" if first.lower() in MEANT_BY else plain_words.meant_command(first)
    words = words_of(command)
    return command, words, find_head(words, games) if words else None


def not_a_command(words: Sequence[Word], games: Collection[str]) -> Line:
    """Return the refusal of a line that is not like a command and may contain a password."""
    return _read_without_sender(partial(_not_a_command, words, games))


def _not_a_command(words: Sequence[Word], games: Collection[str], sender: Sender) -> Line:
    shown = [_shown_word(word) for word in words[:2]]
    echo = REST if REST in shown or len(words) > 2 else " ".join(shown)
    if len(words) > 2 and is_number(words[0].text) and _takes_a_board(words[1]):
        return Line(REST, _number_in_front(words, None, games, sender))
    meaningful = plain_words.meaningful_words(" ".join(word.text for word in words[:_MOST_WORDS]))
    first_words = [words[0].plain, *meaningful[:1]] if words else []
    suggested = next((MEANT_BY[word] for word in first_words if word in MEANT_BY), "")
    meaning = [] if len(words) == 1 and suggested else _plain_command(words)
    row = BY_NAME.get(meaning[0] if meaning else suggested)
    sample = (
        example(row, None, games, _meant_arguments(row, meaning, sender), sender) if row else "help"
    )
    if row is not None and row.name == "challenge":
        sample = _challenge_example(row, words, games, sender)
    refusal = Misread(
        "not-a-command",
        example=sample,
        suggestion=row.name if row else "",
        games=", ".join(sorted(games)),
    )
    return Line(echo, refusal)


def _plain_command(words: Sequence[Word]) -> list[str]:
    """Return the words of the command that a sentence means, empty for none."""
    return plain_words.meant_command(" ".join(word.text for word in words[:_MOST_WORDS])).split()


def _meant_arguments(row: Row, meaning: Sequence[str], sender: Sender) -> Mapping[Kind, str]:
    """Return the arguments of an example that a sentence means: "-practice", "digest=off"."""
    kind = row.parameters[-1].kind if row.parameters else Kind.PASSWORD
    rest = meaning[1:] if BY_NAME.get(meaning[0] if meaning else "") is row else []
    if kind in {Kind.ALONE, Kind.PLAYERS}:
        rest = [sender.userid, *rest] if sender.userid and rest else []
    return {kind: " ".join(rest)} if rest and kind is not Kind.PASSWORD else {}


def without_unknown_word(line: Line) -> Line:
    """Return the line so that its refusal does not repeat a word that is not a command."""
    if not isinstance(line.meaning, Misread) or line.meaning.refusal.code != "unknown-command":
        return line
    refusal = line.meaning.refusal
    without_word = Misread(refusal.code, part="", example=refusal.example, **refusal.values)
    return replace(line, echo=REST, meaning=without_word, for_sender=None)


def _shown_word(word: Word) -> str:
    """Return a word of a line that is not a command, or ``...`` if it may be a password."""
    return word.raw if word.plain in MEANT_BY else quotable(word.text) or REST


def _challenge_example(
    row: Row, words: Sequence[Word], games: Collection[str], sender: Sender
) -> str:
    """Return the example of a challenge for "play bob"."""
    opponents = [word.plain for word in words[1:] if sender.is_player(word.plain)]
    players = list(dict.fromkeys([sender.userid, *opponents]))
    correct_words = {Kind.PLAYERS: " ".join(players)} if sender.userid and len(players) > 1 else {}
    return example(row, None, games, correct_words, sender)


def _takes_a_board(word: Word) -> bool:
    row = BY_NAME.get(word.plain)
    return row is not None and bool(row.parameters) and row.parameters[0].kind is Kind.BOARD


def _number_in_front(
    words: Sequence[Word], game: str | None, games: Collection[str], sender: Sender
) -> Misread:
    """Return the refusal of a line with the number of the board in front of the command."""
    row = BY_NAME[words[1].plain]
    correct_words = _correct_words(row, game, (words[0], *words[2:]), games, sender)
    number = words[0].text if len(words[0].text) < LONGEST_QUOTED else ""
    sample = example(row, game, games, correct_words, sender)
    return Misread("board-first", part=number, example=sample, command=row.name)


def _correct_words(
    row: Row, game: str | None, words: Sequence[Word], games: Collection[str], sender: Sender
) -> Mapping[Kind, str]:
    """Return the words behind a command that examples may repeat."""
    cursor = Cursor(row, game, _board_first(row, words), games, sender)
    with suppress(Misread):
        read_parameters(cursor)
    return cursor.correct_words


EMPTY = Line("(an empty mail)", Help())
"""The reading of an empty mail."""


def _echo(row: Row, front: str, words: Sequence[Word]) -> str:
    """Return the line with its secrets replaced, also where they are repeated."""
    secrets = row.secrets
    if not secrets:
        return " ".join([front, *[word.raw for word in words]])
    shown = [word.raw for word in words]
    for place in secrets:
        text = words[place].text
        # A password that contains a blank and has no quotes continues in the next words.
        if words[place].unclosed or (len(words) > row.min_words and _has_stray_blank(row, shown)):
            shown[place:] = [BLANK] * (len(shown) - place)
        elif len(text) < SHORTEST_PASSWORD and text != "-":  # then another word is the password
            shown = [BLANK] * len(shown)
        else:
            shown = [BLANK if text in raw and text != "-" else raw for raw in shown]
        shown[place] = BLANK
    return " ".join([front, *shown])


def _has_stray_blank(row: Row, words: Sequence[str]) -> bool:
    """Return whether a move or plan has a blank in a wrong place, as if a word were too much."""
    last = row.parameters[-1]
    if not last.rest:
        return False
    signs = ",#" if last.kind is Kind.MOVE else ",#;:()="
    pairs = pairwise(words[len(row.parameters) - 1 :])
    strays = [(a, b) for a, b in pairs if a[-1] not in signs and b[0] not in signs]
    if last.kind is Kind.PLAN:
        strays = [pair for pair in strays if not PLAN_WORDS & {word.lower() for word in pair}]
    return bool(strays)


def _unknown_word(
    words: Sequence[Word], head: Head, games: Collection[str], sender: Sender
) -> Line:
    """Return the refusal of a line whose game or command is unknown."""
    front = f"{head.front} " if head.front else ""
    first = words[head.rest - 1 if head.unknown == "game" else head.rest].text
    first = first if len(first) <= LONGEST_QUOTED else REST
    if head.unknown == "game":
        row = BY_NAME[words[1].plain]
        correct_words = _correct_words(row, None, words[2:], games, sender)
        sample = example(row, head.suggestion or None, games, correct_words, sender)
        refusal = unknown_game(first, first.lower(), games, example=sample)
        return Line(f"{first} {row.name} {REST}", refusal)
    rest = words[head.rest + 1 :]
    echo = f"{front}{first}" + (f" {REST}" if rest else "")
    if is_number(first) and rest and _takes_a_board(rest[0]):
        return Line(echo, _number_in_front(words[head.rest :], head.game, games, sender))
    suggested = BY_NAME.get(head.suggestion)
    if suggested is None:
        return Line(echo, Misread("unknown-command", part=first, example="help", suggestion=""))
    if suggested.name == "change password":
        sample = example(suggested, head.game, games, {}, sender)
        return Line(echo, Misread("unknown-change", example=sample))
    correct_words = _correct_words(suggested, head.game, rest, games, sender)
    refusal = Misread(
        "unknown-command",
        part=first,
        example=example(suggested, head.game, games, correct_words, sender),
        suggestion=suggested.name,
    )
    return Line(echo, refusal)
