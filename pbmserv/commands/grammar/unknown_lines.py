"""Refuses lines that name no command, with the command that they may mean as an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.arguments import board_first, read_parameters
from pbmserv.commands.grammar.command_names import Head
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.examples import Sender, example, unknown_game
from pbmserv.commands.grammar.game_names import GameTitles, game_in_sentence
from pbmserv.commands.grammar.readings import REST, Line, read_without_sender
from pbmserv.commands.grammar.word_forms import is_number, quotable
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.catalogue import BY_NAME, MEANT_BY
from pbmserv.commands.table.row_types import Kind, Row
from pbmserv.errors import Misread

LONGEST_QUOTED = 24
"""Characters of an unknown word that a refusal repeats."""

_MOST_WORDS = 20
"""Words of a sentence that are searched for a command."""


def not_a_command(words: Sequence[Word], games: GameTitles) -> Line:
    """Return the refusal of a line that is not like a command and may contain a password."""
    return read_without_sender(partial(_not_a_command, words, games))


def _not_a_command(words: Sequence[Word], games: GameTitles, sender: Sender) -> Line:
    shown = [_shown_word(word) for word in words[:2]]
    echo = REST if REST in shown or len(words) > 2 else " ".join(shown)
    if len(words) > 2 and is_number(words[0].text) and _takes_a_board(words[1]):
        return Line(REST, _number_in_front(words, None, games, sender))
    meaningful = plain_words.meaningful_words(" ".join(word.text for word in words[:_MOST_WORDS]))
    first_words = [words[0].plain, *meaningful[:1]] if words else []
    suggested = next((MEANT_BY[word] for word in first_words if word in MEANT_BY), "")
    if suggested == "signup" and sender.userid:  # a player who wants to join means an event
        suggested = "events"
    meaning = [] if len(words) == 1 and suggested else _plain_command(words, games)
    row = BY_NAME.get(meaning[0] if meaning else suggested)
    game = game_in_sentence([word.plain for word in words[:_MOST_WORDS]], games)
    if row is None:
        sample = f"help {game}".strip()
    elif row.name == "challenge":
        sample = _challenge_example(row, game, words, games, sender)
    else:
        sample = example(row, game, games, _meant_arguments(row, meaning, sender), sender)
    refusal = Misread(
        "not-a-command",
        example=sample,
        suggestion=row.name if row else "",
        games=", ".join(sorted(games)),
    )
    return Line(echo, refusal)


def _plain_command(words: Sequence[Word], games: GameTitles) -> list[str]:
    """Return the words of the command that a sentence means, empty for none."""
    text = " ".join(word.text for word in words[:_MOST_WORDS])
    return plain_words.as_command(text, games).split()


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
    row: Row, game: str, words: Sequence[Word], games: GameTitles, sender: Sender
) -> str:
    """Return the example of a challenge for "play bob"."""
    opponents = [word.plain for word in words[1:] if sender.is_player(word.plain)]
    players = list(dict.fromkeys([sender.userid, *opponents]))
    correct_words = {Kind.PLAYERS: " ".join(players)} if sender.userid and len(players) > 1 else {}
    return example(row, game, games, correct_words, sender)


def _takes_a_board(word: Word) -> bool:
    row = BY_NAME.get(word.plain)
    return row is not None and bool(row.parameters) and row.parameters[0].kind is Kind.BOARD


def _number_in_front(
    words: Sequence[Word], game: str | None, games: GameTitles, sender: Sender
) -> Misread:
    """Return the refusal of a line with the number of the board in front of the command."""
    row = BY_NAME[words[1].plain]
    correct_words = _correct_words(row, game, (words[0], *words[2:]), games, sender)
    number = words[0].text if len(words[0].text) <= LONGEST_QUOTED else ""
    sample = example(row, game, games, correct_words, sender)
    return Misread("board-first", part=number, example=sample, command=row.name)


def _correct_words(
    row: Row, game: str | None, words: Sequence[Word], games: GameTitles, sender: Sender
) -> Mapping[Kind, str]:
    """Return the words after a command that examples may repeat."""
    cursor = Cursor(row, game, board_first(row, words), games, sender)
    with suppress(Misread):
        read_parameters(cursor)
    return cursor.correct_words


def refuse_unknown_word(words: Sequence[Word], head: Head, games: GameTitles) -> Line:
    """Return the refusal of a line whose game or command is unknown."""
    return read_without_sender(partial(_unknown_word, words, head, games))


def _unknown_word(words: Sequence[Word], head: Head, games: GameTitles, sender: Sender) -> Line:
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
    if suggested is None and head.game and sender.userid and sender.is_player(first.lower()):
        row = BY_NAME["challenge"]  # "gomoku bob"
        sample = _challenge_example(row, head.game, words, games, sender)
        refusal = Misread("unknown-command", part=first, example=sample, suggestion=row.name)
        return Line(echo, refusal)
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
