"""Reads a line that names a command; its echo replaces every secret by ``***``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.arguments import board_first, in_order, read_parameters
from pbmserv.commands.grammar.command_names import Head, find_head, has_credentials
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.examples import STRANGER, Sender, example
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.readings import BLANK, REST, Line, read_without_sender
from pbmserv.commands.grammar.unknown_lines import refuse_unknown_word
from pbmserv.commands.grammar.word_forms import BOARD, SHORTEST_PASSWORD
from pbmserv.commands.grammar.words import (
    LONGEST_LINE,
    PREPOSITIONS,
    Word,
    with_bots,
    without_my_friend,
    without_please,
    words_of,
)
from pbmserv.commands.table.catalogue import BY_NAME, MEANT_BY
from pbmserv.commands.table.command_types import VOUCHED, Command, Secret
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.row_types import Kind, Row, Scope, Trait
from pbmserv.engine.plans import PLAN_WORDS
from pbmserv.errors import Misread, PlayerError


def read_line(words: Sequence[Word], head: Head, length: int, games: GameTitles) -> Line:
    """Read a line whose head is known."""
    row = head.row
    if row is None:
        return refuse_unknown_word(words, head, games)
    row, words = _with_verb_in_front(row, (*words[head.rest :], *head.move))
    front, game = head.front, head.game
    if not front:
        game, words = game_behind(row, words, games)
        front = game or ""
    front = f"{front} {row.name}" if front else row.name
    if length > LONGEST_LINE:
        return read_without_sender(partial(_too_long, row, front, game, games))
    return read_arguments(row, front, game, words, games)


def _with_verb_in_front(row: Row, words: Sequence[Word]) -> tuple[Row, Sequence[Word]]:
    """Return the command and the words after it, also if its second word is after the password.

    "ladder alice PASSWORD join ttt" means "ladder join alice PASSWORD ttt": the commands of other
    events are written like this.
    """
    if len(words) < 3:
        return row, words
    meant = BY_NAME.get(f"{row.name} {words[2].plain}")
    if meant is None or meant.parameters[0].kind is not Kind.USERID:
        return row, words
    return meant, (*words[:2], *words[3:])


_ONLY_PEOPLE = frozenset({Kind.PLAYERS, Kind.PEOPLE, Kind.WATCHED})
"""Parameters whose words are userids, and perhaps options; the last one is no password."""
_BEFORE_A_GAME = re.compile(
    rf"(?:(?<!\S)(?:{'|'.join(sorted(PREPOSITIONS))}) )?"
    r"(?:(?<!\S)(?:a|another) )?(?:(?<!\S)(?:game|match) of )?\Z"
)
_NEAR = 8
"""Words at the start and at the end of a line among which a game can be named; long lines have
hundreds."""


def game_behind(
    row: Row, words: Sequence[Word], games: GameTitles
) -> tuple[str | None, Sequence[Word]]:
    """Return the game that is named after a command, and the other words.

    "seek chess" and "challenge bob to a game of chess" mean what they say, since no player can be
    called like a game or like the words in front of it. `None` is returned if the word may be a
    password, as in "seek alice backgammon" and "solo alice backgammon".
    """
    kinds = [parameter.kind for parameter in row.parameters]
    if row.scope is not Scope.GAME or {Kind.BOARD, *_TEXTS}.intersection(kinds):
        return None, words
    end = next((n for n, word in enumerate(words) if word.text.startswith("-")), len(words))
    plain = [word.plain for word in words[:end]]
    for at in sorted({*range(min(_NEAR, end)), *range(max(0, end - _NEAR), end)}):
        game, count = game_in_front(plain[at:], games)
        if not game:
            continue
        before = _BEFORE_A_GAME.search(" ".join((*plain[max(0, at - _NEAR) : at], "")))
        kept = at - len(before[0].split()) if before else at
        is_named_by_to = before is not None and before[0].startswith("to ")
        is_at_end = at + count == end or is_named_by_to  # "challenge bob to hex, slowly"
        if kept == 0 or (is_at_end and _ONLY_PEOPLE.issuperset(kinds)):
            return game, (*words[:kept], *words[at + count :])
    return None, words


def read_arguments(
    row: Row, front: str, game: str | None, words: Sequence[Word], games: GameTitles
) -> Line:
    """Read the command of a row.

    Args:
        row: the command.
        front: the words of the echo in front of the arguments.
        game: the game that the line names, `None` for none.
        words: the words after the command.
        games: titles of the games of this server by key.

    Raises:
        ValueError: the row steers the reading and is not a command.
    """
    line = _CommandLine(row, front, game, words, games).completed()
    return read_without_sender(line.read)


def _too_long(row: Row, front: str, game: str | None, games: GameTitles, sender: Sender) -> Line:
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
    games: GameTitles

    def completed(self) -> _CommandLine:
        """Return the line without filler words, with the board first and a game if it needs one."""
        row, game = self.row, self.game
        if Trait.BARE in row.traits and not self.words:
            row = replace(row, parameters=())
        if Trait.NEEDS_GAME in row.traits and game is None:
            game = next(iter(self.games))
        words = board_first(row, without_filler(row, self.words))
        return replace(self, row=row, game=game, words=words)

    def read(self, sender: Sender) -> Line:
        """Read the line as it is, and offer the other ways that its command allows."""
        row, words = self.row, self.words
        names_no_writer = row.without_writer is not None
        cursor = Cursor(row, self.game, words, self.games, sender)
        meaning: Command | Misread
        try:
            meaning = row.build(read_parameters(cursor))
        except Misread as refusal:
            meaning = refusal
            shown = [BLANK if i in cursor.hidden else word.raw for i, word in enumerate(words)]
            echo = " ".join((self.front, *shown))
        else:
            echo = _echo(row, self.front, words)
            names_no_writer = names_no_writer and self._may_name_no_writer()
        return Line(
            echo,
            meaning,
            without_password=self.without_password if row.may_be_vouched else None,
            with_proof=self.with_proof if row.with_proof is not None else None,
            without_writer=self.without_writer if names_no_writer else None,
            userid_word=_userid_word(row, words),
        )

    def _may_name_no_writer(self) -> bool:
        """Return whether a line that can be read may mean something else without a writer.

        "bob carol dave" may be three recipients of a message; "alice secret g" is not a move.
        """
        row = self.row
        if not row.secrets:
            return False
        to_many = row.parameters[-1].kind is Kind.RECIPIENTS
        return to_many or not has_credentials(row, self.words, named=self.game is not None)

    def without_password(self) -> Line | None:
        """Read the line as if it had no password, `None` if that makes no sense."""
        row = self.row.without(Kind.PASSWORD)
        words = in_order(row, without_filler(row, self.words))
        return self._read_as(row, words, password=VOUCHED)

    def without_writer(self) -> Line | None:
        """Read the line as if it named no writer, `None` if that makes no sense."""
        row = self.row.without_writer
        assert row is not None
        return self._read_as(row, without_filler(row, self.words), named=False)

    def with_proof(self) -> Line | None:
        """Read the line with an added userid and password, `None` if that makes no sense."""
        row = self.row.with_proof
        assert row is not None
        return self._read_as(row, self.words)

    def _read_as(
        self, row: Row, words: Sequence[Word], *, named: bool = True, password: Secret | None = None
    ) -> Line | None:
        """Read the line as one of another row, `None` if it cannot be read so."""
        cursor = Cursor(row, self.game, words, self.games, STRANGER, named=named)
        cursor.arguments.password = password
        try:
            arguments = read_parameters(cursor)
        except Misread:
            return None
        if BOARD.fullmatch(arguments.userid):  # "show 12 13 14"
            return None
        return Line(_echo(row, self.front, words), row.build(arguments))


def without_filler(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words after a command without filler words, such as "please" at the end.

    "Please" stays if it may be a password or part of a text, and after a command that must stand
    alone.
    """
    kinds = {parameter.kind for parameter in row.parameters}
    if Kind.PLAYERS in kinds:
        words = with_bots(without_my_friend(words))
    if Kind.RECIPIENTS in kinds and words and words[0].plain == "to":  # "message to bob"
        words = words[1:]
    if Trait.ALONE in row.traits or not kinds.isdisjoint(_TEXTS):
        return words
    last = len(words) - 1
    return words if last in row.secrets else without_please(words)


_TEXTS = frozenset({Kind.NEW_PASSWORD, Kind.MOVE, Kind.PLAN})


def _userid_word(row: Row, words: Sequence[Word]) -> str:
    """Return the word in the place of the userid, ``""`` for none."""
    kinds = [parameter.kind for parameter in row.parameters]
    if Kind.USERID not in kinds or (Kind.RECIPIENTS in kinds and len(words) < row.min_words):
        return ""
    place = kinds.index(Kind.USERID)
    return words[place].text.lower() if place < len(words) else ""


def in_plain_words(text: str, games: GameTitles) -> Line | None:
    """Return the command that the first line of a text means in plain words, `None` for none.

    A command that must stand alone is not guessed.

    Args:
        text: the subject or body.
        games: titles of the games of this server by key.
    """
    command, words, head = _plain_head(text, games)
    if head is None or head.row is None or Trait.ALONE in head.row.traits:
        return None
    return read_line(words, head, len(command), games)


def better_in_plain_words(text: str, games: GameTitles, row: Row, line: Line) -> Line | None:
    """Return the reading of a text in plain words if it is better than the literal one.

    It is better if the plain words mean the command that the text names. If they mean another one,
    it is better if the literal reading was refused and this one is not.

    Args:
        text: the subject, which begins with the name of a command.
        games: titles of the games of this server by key.
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


def _plain_head(text: str, games: GameTitles) -> tuple[str, list[Word], Head | None]:
    """Return the command that a text means in plain words, its words and its head."""
    first = text.strip().partition("\n")[0]
    command = "" if first.lower() in MEANT_BY else plain_words.as_command(first, games)
    words = words_of(command)
    return command, words, find_head(words, games) if words else None


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
