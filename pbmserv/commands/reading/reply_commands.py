"""Reads the command in the first line of a reply, whose address tells the player and the board."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pbmserv.commands.grammar.arguments import EVENT_VERBS, without_word_for_board
from pbmserv.commands.grammar.command_names import find_command, has_credentials, holds_a_move
from pbmserv.commands.grammar.consent import says_yes
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.line import game_behind, read_arguments, without_filler
from pbmserv.commands.grammar.readings import REST, Line
from pbmserv.commands.grammar.word_forms import SHORTEST_PASSWORD, is_number
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.reading.reply_moves import MOVES
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, WHICH, command_meant
from pbmserv.commands.table.command_types import TrayReply
from pbmserv.commands.table.looking import Games, ShowAs
from pbmserv.commands.table.row_types import Kind, Row, Trait
from pbmserv.errors import Misread

LONGEST_ECHO = 200

_VERB = re.compile(rf"(?:{'|'.join(sorted(EVENT_VERBS))})\b.*")
_EXACT = {
    "check": re.compile(r"\S{1,3}"),  # "check 12"
    "scores": re.compile(r"\d{1,4}x\d{1,4}\S*( [a-z]+)?"),  # "scores 8x8 daily"
    "give": re.compile(r"\d{1,4} ?[a-z]*|.{0,40} days?"),  # "give 3 days", "give two days"
    "claim": re.compile(r"(draw|abort|)"),
    **dict.fromkeys(("league", "cup", "swiss", "event", "team"), _VERB),
}
"""Arguments that show a command and not a sentence: "check 12" is a command, "check your mail" is a
sentence."""

_OF_TALK = frozenset({"give", "claim"})
"""Commands whose names are words of any sentence, such as "give me a hint"."""

_FILLER_WORDS = frozenset(
    ("please", "pls", "thanks", "now", "it", "that", "this", "the", "my", "last", "move", "again")
)
"""Words after a command that do not change its meaning."""

_AROUND_BOARD = frozenset({"me", "the", "my", "this", "again", "please", "now"})
"""Words around "board" in "show me the board again"."""

_MOST_PEOPLE = 3
"""Userids after ``history``; "history repeats itself every time" is a sentence."""


@dataclass(frozen=True, slots=True)
class ReplyHead:
    """The first words of a reply: perhaps a game, the name of a command, and its arguments."""

    game: str | None
    name: str
    row: Row | None
    rest: Sequence[Word]


def reply_head(words: Sequence[Word], games: GameTitles) -> ReplyHead:
    """Return the first words of a reply; a name with other words after it may be only a word."""
    game, count = game_in_front((word.plain for word in words), games)
    if count == len(words):  # a game alone
        game, count = "", 0
    words = words[count:]
    name, rest = words[0].plain, words[1:]
    pair = " ".join([word.plain for word in words[:2]])
    if pair in IN_REPLY:
        return ReplyHead(game or None, pair, IN_REPLY[pair], words[2:])
    row = IN_REPLY.get(name) or _guessed_command(name)
    if row is not None and not game:
        named, others = game_behind(row, rest, games)
        if named and all(word.text.startswith("-") for word in others):  # "go figure" names none
            game, rest = named, others
    if row is not None and row.name in _OF_TALK:
        exact = _EXACT[row.name].fullmatch(" ".join([word.plain for word in rest]))
        row = row if exact else None
    if row is not None and row.name == "move" and len(rest) == 1:
        instead = rest[0].plain  # "move resign"
        if instead in {"resign", "undo"}:
            return ReplyHead(game or None, instead, IN_REPLY[instead], ())
    return ReplyHead(game or None, name, row, rest)


def read_command(head: ReplyHead, games: GameTitles) -> Line | None:
    """Read the command of the first line, `None` if it is a sentence or a move."""
    row = head.row
    assert row is not None
    head = replace(head, rest=without_word_for_board(row, head.rest))
    rest = without_filler(row.as_reply, head.rest)
    line = _board_command(head, row, games)
    if line is not None:
        return line
    if Trait.ALONE in row.traits:
        return _command_alone(head, row, rest, games)
    if row.name in {"yes", "accept"}:
        return _consent(head, row, rest, games)
    line = _command_about_this_board(head, row, rest)
    if line is not None:
        return line
    if _names_a_board(row, rest):
        named = row.without(Kind.USERID, Kind.PASSWORD)
        return read_arguments(named, row.name, head.game, rest, games)
    if _is_sentence(row, rest):
        return None
    plain = row.as_reply
    return read_arguments(plain, row.name, head.game, rest if plain.parameters else (), games)


def _command_alone(
    head: ReplyHead, row: Row, rest: Sequence[Word], games: GameTitles
) -> Line | None:
    """Read a command that must stand alone, "resign", and refuse one with words after it.

    A move that begins like it, "delete b2", is none.
    """
    if not rest:
        return read_arguments(row.as_reply, row.name, head.game, (), games)
    if row.name != "resign" and MOVES.fullmatch(_joined(rest)):
        return None
    refused = Misread("stands-alone", part=row.name, example=row.name)
    return Line(f"{row.name} {REST}", refused)


def _consent(head: ReplyHead, row: Row, rest: Sequence[Word], games: GameTitles) -> Line | None:
    """Read "yes" or "accept", `None` if the words after it mean something else."""
    if not says_yes(" ".join(("yes", *(word.raw for word in rest)))):
        return None  # "yes, but not now"
    spelling = head.name if head.name in row.names else row.name
    return read_arguments(row.as_reply, spelling, head.game, (), games)


def _command_about_this_board(head: ReplyHead, row: Row, rest: Sequence[Word]) -> Line | None:
    """Read "show", "show me the board again" or "games active", `None` for other lines."""
    texts = [word.plain for word in rest]
    named = [word for word in texts if word not in _AROUND_BOARD]
    is_this_board = row.name == "show" and named in (["board"], ["boards"])
    if is_this_board or (row.name in {"show", "showas"} and not rest):
        return Line("show", ShowAs(head.game, None))
    if row.name == "games" and WHICH.issuperset(texts):
        return Line(" ".join(("games", *texts)), Games(head.game, (), (texts or ["active"])[-1]))
    return None


def _is_sentence(row: Row, rest: Sequence[Word]) -> bool:
    """Return whether a line that begins with the name of a command is a sentence: "show off"."""
    kinds = {parameter.kind for parameter in row.parameters}
    if Kind.PEOPLE in kinds and len(rest) > _MOST_PEOPLE:
        return True
    if Trait.ENGLISH not in row.traits:
        return False
    is_exact = row.name in _EXACT and _EXACT[row.name].fullmatch(_joined(rest))
    return not is_exact and not _FILLER_WORDS.issuperset(word.plain for word in rest)


def _joined(words: Sequence[Word]) -> str:
    return " ".join([word.plain for word in words])


def _board_command(head: ReplyHead, row: Row, games: GameTitles) -> Line | None:
    """Read a command whose number must be a board, "resign 12", else return `None`."""
    rest = head.rest
    if head.name == "board" and holds_a_move(rest):
        number, move = int(rest[0].text.strip("#,;:")), " ".join(word.text for word in rest[1:])
        return Line(f"{number}: {move}"[:LONGEST_ECHO], TrayReply(number, move))
    plain = row.without(Kind.USERID, Kind.PASSWORD)
    alone = [parameter.kind for parameter in plain.parameters] == [Kind.BOARD]
    if alone and len(rest) == 1 and is_number(rest[0].text):
        return read_arguments(plain, row.name, head.game, rest, games)
    return None


def _names_a_board(row: Row, rest: Sequence[Word]) -> bool:
    """Return whether a command that is harmless at any board names one by its number."""
    if Trait.ANY_BOARD not in row.traits or not rest or not is_number(rest[0].text):
        return False
    plain = row.without(Kind.USERID, Kind.PASSWORD)
    return plain.min_words <= len(rest) <= plain.max_words


def is_full_form(words: Sequence[Word], games: GameTitles) -> bool:
    """Return whether a line is a command in full, as in a subject, with userid and password."""
    head = find_command(words, games)
    if head is None or head.row is None:
        count = game_in_front((word.plain for word in words), games)[1]
        # "hex chalenge bob" may be a command; "hex is nice" is talk.
        is_like_command = head is not None and head.suggestion != ""
        return count > 0 and is_like_command and not _is_move(words[count:])
    reply = reply_head(words, games)
    if reply.row is None and not head.row.in_reply:
        return True
    rest = words[head.rest :]
    if head.row.secrets and head.row.parameters[-1].rest and not _may_have_password(rest):
        return False  # "queue 3 twos" is about the board of the letter
    return has_credentials(head.row, rest, named=bool(head.front))


def _is_move(words: Sequence[Word]) -> bool:
    """Return whether words are a move, as behind the game in "liar 3 twos" or "chess e4"."""
    texts = [word.plain for word in words]
    return bool(texts) and (is_number(texts[0]) or MOVES.fullmatch(" ".join(texts)) is not None)


def _may_have_password(rest: Sequence[Word]) -> bool:
    """Return whether the third word after a command with a board may be a password."""
    return len(rest) > 2 and len(rest[2].text) >= SHORTEST_PASSWORD


def is_command_name(word: str) -> bool:
    """Return whether a word is or surely means the name of a command."""
    return word in BY_NAME or word in IN_REPLY or command_meant(word) is not None


def _guessed_command(name: str) -> Row | None:
    """Return the command of a reply that a misspelt word or a synonym means.

    A command that must stand alone is never guessed.
    """
    row = command_meant(name) if name.isalpha() else None  # "?" is a move
    return row if row is not None and row.in_reply and Trait.ALONE not in row.traits else None
