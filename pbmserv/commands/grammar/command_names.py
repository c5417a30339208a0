"""Finds the game and the command that the first words of a line name, also if misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pbmserv.commands.grammar.arguments import EVENT_VERBS, UNTIL
from pbmserv.commands.grammar.dates import first_and_last_day
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front, nearest_game, with_keys
from pbmserv.commands.grammar.word_forms import (
    BOARD,
    OFF,
    SETTINGS,
    is_number,
    is_userid,
    looks_like_a_move,
)
from pbmserv.commands.grammar.words import Word, without_please
from pbmserv.commands.table.catalogue import (
    BY_NAME,
    WHICH,
    command_meant,
    command_one_edit_away,
    suggested_command,
)
from pbmserv.commands.table.row_types import NO_LIMIT, Kind, Row, Scope, Trait
from pbmserv.engine.plans import PLAN_WORDS

_LONGEST_PORT = 2
_LONGEST_NAME = 40
"""Characters of a game's name that an echo repeats as they were written; signs can make it long."""
_WRITTEN_AS_MOVES = frozenset({"resign", "undo"})
"""Commands that people write in the place of a move."""

_MOVE_WORDS = frozenset({"pass", "swap", "propose", "draw"})
"""Moves of some games that people write in the place of a command: ``game propose 12 ...``."""

EVERY_GAME = "all"
"""Replaces the name of a game: ``all show alice``."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first words of a line: a game and a command, or the word that is neither.

    Attributes:
        front: the name of the game as the echo repeats it: as it was written, unless it was
            misspelt; ``""`` for none.
        game: the key of the game, `None` for none and for all games.
        row: the command, `None` if a word is unknown.
        rest: index of the first argument.
        unknown: ``"game"`` or ``"command"`` if the line has an unknown word in that place.
        suggestion: the game or command that the unknown word may mean, ``""`` for none.
        move: a move in the place of the command, if there is one.
    """

    front: str
    game: str | None
    row: Row | None
    rest: int
    unknown: str = ""
    suggestion: str = ""
    move: tuple[Word, ...] = ()


def find_head(words: Sequence[Word], games: GameTitles) -> Head | None:
    """Return the head of a line, `None` if the line is not like a command."""
    front, game, at = _game_in_front(words, games)
    head = _named_command(words, front, game, at)
    if head is not None or front == EVERY_GAME:
        return head
    word = words[at].plain
    suggestion = _suggested_name(word)
    if front:
        return Head(front, game, None, at, unknown="command", suggestion=suggestion)
    if len(words) > 2 and _names_a_command(words):
        near = nearest_game(word, games)
        return Head("", None, None, 1, unknown="game", suggestion=near)
    if suggestion and _fits_command(suggestion, words[1:], games):
        return Head("", None, None, 0, unknown="command", suggestion=suggestion)
    return None


def find_command(words: Sequence[Word], games: GameTitles) -> Head | None:
    """Return the head of a line that names a command, `None` for others. Suggest nothing."""
    front, game, at = _game_in_front(words, games)
    return _named_command(words, front, game, at)


_OPENINGS = frozenset({"play", "start", "begin", "new", "another", "a", "game", "match", "of"})
_WISHES = _OPENINGS | {
    *("i", "i'd", "we", "we'd", "me", "us", "let", "let's", "lets", "can", "could", "may"),
    *("please", "want", "wanna", "would", "like", "to", "hi", "hello", "hey"),
}
_OF_MINE = frozenset({"my", "our", "the", "good", "old", "dear", "best"})
"""Words in front of a friend's name."""
_PLAYED = frozenset({"play", "game", "match"})


def spoken_challenge(words: Sequence[Word], games: GameTitles) -> Head | None:
    """Return the head of a challenge in plain words, "new game with dave", else `None`."""
    plain = [word.plain for word in words]
    at = next((n for n, word in enumerate(plain) if word in {"with", "against"}), 0)
    if at == 0:
        return None
    opening = with_keys(plain[:at], games)
    while at + 2 < len(words) and plain[at + 1] in _OF_MINE:  # "with my grandpa otto@..."
        at += 1
    behind = without_please(words[at + 1 :])
    names = [word for word in behind if not word.text.startswith("-") and word.plain != "the"]
    named_games = [word for word in opening if word in games]
    has_address = any("@" in word.text for word in names)  # "with you" names nobody
    is_opening = (_WISHES if has_address else _OPENINGS).union(games).issuperset(opening)
    is_about_game = bool(named_games) or not _PLAYED.isdisjoint(opening)
    if not (is_opening and is_about_game and 0 < len(names) <= 2):
        return None
    if not all(is_userid(word.plain) or "@" in word.text for word in names):
        return None
    game = named_games[0] if named_games else None
    return Head(game or "", game, BY_NAME["challenge"], at + 1)


def _game_in_front(words: Sequence[Word], games: GameTitles) -> tuple[str, str | None, int]:
    """Return the name of the game in front, its key, and the index of the next word."""
    game, count = game_in_front((word.plain for word in words), games)
    if game:
        written = " ".join([word.raw for word in words[:count]])
        return written if len(written) <= _LONGEST_NAME else game, game, count
    first = words[0].plain
    if len(words) < 2 or first in BY_NAME:
        return "", None, 0
    if first == EVERY_GAME:
        return first, None, 1
    second = words[1].plain
    near = nearest_game(first, games)
    if near and (second in BY_NAME or command_meant(second) is not None):
        return near, near, 1
    return "", None, 0


def _named_command(words: Sequence[Word], front: str, game: str | None, at: int) -> Head | None:
    """Return the head if a command is named. A game alone asks for its help."""
    if at >= len(words):
        return Head(front, game, BY_NAME["help"], at)
    return _command_at(words, at, front, game)


def _command_at(words: Sequence[Word], at: int, front: str, game: str | None) -> Head | None:
    """Return the head for the command of one or two words at an index, also if misspelt."""
    word = words[at].plain
    following = words[at + 1].text.lower() if at + 1 < len(words) else ""
    pair = f"{word} {following}"
    row = BY_NAME.get(pair) or _unless_final(command_meant(pair))
    if row is not None:
        return Head(front, game, row, at + 2)
    row = BY_NAME.get(word) or _unless_final(command_meant(word)) or _question_command(words[at:])
    if word == "board" and holds_a_move(words[at + 1 :]):
        row = BY_NAME["move"]
    if row is not None:
        return Head(front, game, row, at + 1)
    if word in _MOVE_WORDS and front and is_number(following):
        return Head(front, game, BY_NAME["move"], at + 1, move=(words[at],))
    # Without a game in front, a number must follow: "more ..." is English, "movr 12 ..." is not.
    if front or is_number(following):
        row = _unless_final(command_one_edit_away(word))
        if row is not None and (front or row.name[0] == word[0]):  # "what 5 ..." is English, too
            return Head(front, game, row, at + 1)
    return None


def _question_command(words: Sequence[Word]) -> Row | None:
    """Return the command that only looks and is a question of one word: "help?", "games?"."""
    row = BY_NAME.get(words[0].plain.rstrip("?! ")) if len(words) == 1 else None
    return row if row is not None and Trait.LOOKS in row.traits else None


def holds_a_move(behind: Sequence[Word]) -> bool:
    """Return whether "board 12 ..." makes a move, as on the server of 1994, and lists no boards."""
    texts = [word.text.lower().rstrip(",;:") for word in behind]
    if len(texts) < 2 or not is_number(texts[0]):
        return False
    if all(map(BOARD.fullmatch, texts)):
        return len(texts) == 2 and behind[0].text.endswith(":")  # "board 12: 5"
    last = texts[-1]  # "Board 12 was handed over" is English
    return len(last) <= _LONGEST_PORT or last in _WRITTEN_AS_MOVES or looks_like_a_move(last)


def _unless_final(row: Row | None) -> Row | None:
    """Return a command whose name was misspelt, unless it cannot be taken back."""
    return None if row is not None and Trait.FINAL in row.traits else row


def _names_a_command(words: Sequence[Word]) -> bool:
    """Return whether the second word is a command of a game and its first argument fits."""
    row = BY_NAME.get(words[1].plain)
    if row is None or row.scope is not Scope.GAME or not row.parameters:
        return False
    kind = row.parameters[0].kind
    return kind in {Kind.PLAYERS, Kind.ALONE} or (kind is Kind.BOARD and is_number(words[2].text))


def _fits_command(name: str, rest: Sequence[Word], games: GameTitles) -> bool:
    """Return whether the rest of the line may be arguments of a misspelt command.

    "What a day", "last week" and "except me" are English, although a command is near.
    """
    row = BY_NAME[name]
    kinds = [parameter.kind for parameter in row.parameters]
    if not rest or not kinds:
        return not rest
    texts = [word.text.lower().rstrip(",;.!") for word in rest]
    match kinds[0]:
        case Kind.BOARD | Kind.SHOWN:
            return is_number(texts[0])
        case Kind.GAMES:
            return all(text in games for text in with_keys(texts, games))
        case Kind.SUBJECTS | Kind.TEXT | Kind.PEOPLE:
            return len(rest) == 1
        case Kind.WATCHED:
            return len(rest) <= 2
    least, most = row.min_words, row.max_words
    if name == "change password":  # also suggested for "change email" and the like
        return len(rest) <= most + 1
    return least <= len(rest) <= (most if most < NO_LIMIT else least + 6)


def _suggested_name(word: str) -> str:
    if word in {"change", "chnage"}:
        return "change password"
    return suggested_command(word) or ""


_ENGLISH = frozenset(
    {"to", "at", "in", "on", "from", "for", "with", "and", "the", "this", "that", "it", "my"}
    | {"all", "home", "again", "now", "here", "please"}
)
"""Words after "back" or "delete" that are not meant as userids."""


def has_credentials(row: Row, rest: Sequence[Word], *, named: bool) -> bool:
    """Return whether the words after a command include the userid and password of its full form.

    Args:
        row: the command.
        rest: the words after its name.
        named: whether a game precedes it.
    """
    if not row.secrets:
        return named and bool(rest)
    if len(rest) < 2:
        return False
    if row.parameters[0].kind is Kind.BOARD:
        return _has_board_and_userid(row, rest)
    if row.parameters[0].kind is not Kind.USERID or not is_userid(rest[0].text.lower()):
        return False
    return _begins_with_userid(row.parameters[-1].kind, rest)


def _begins_with_userid(kind: Kind, rest: Sequence[Word]) -> bool:
    """Return whether the first word may be a userid, judged by the kind of the last parameter."""
    first = rest[0].text.lower()
    match kind:
        case Kind.NEW_PASSWORD:
            return False  # a reply to the letter that asks for a new password has just that
        case Kind.SETTINGS:
            return first not in SETTINGS
        case Kind.DATE:
            text = " ".join(word.text for word in rest)
            days = text[4:] if first == "for" else text  # "away for 2 weeks"
            return first not in UNTIL | {"from"} and first_and_last_day(days) is None
        case Kind.TEXT:  # the hour of the daily box
            return first not in {"at", "every", "from"} | OFF and not first[:1].isdigit()
        case Kind.WORDS:
            return first not in EVENT_VERBS
        case Kind.SEATS:
            return not is_number(first) and not first.startswith("-")
        case Kind.BOARDS:
            return not all(map(_is_shown, rest))
        case Kind.RECIPIENTS:  # "bob, carol" are two of them, "bob carol dave" may be a password
            return len(rest) > 2 and not all(word.text.endswith(",") for word in rest[:-1])
        case Kind.PASSWORD:
            return len(rest) == 2 and first not in _ENGLISH
    return True


def _is_shown(word: Word) -> bool:
    """Return whether a word selects boards to show."""
    text = word.text.lower().rstrip(",")
    return text in WHICH or BOARD.fullmatch(text) is not None


def _has_board_and_userid(row: Row, rest: Sequence[Word]) -> bool:
    board, userid = (rest[0], rest[1]) if is_number(rest[0].text) else (rest[1], rest[0])
    if not is_number(board.text) or not is_userid(userid.text):
        return False
    if board is rest[1] and len(rest) < row.min_words:
        return False
    if row.name == "chat":
        return len(rest) == 3
    return userid.text.lower() not in PLAN_WORDS
