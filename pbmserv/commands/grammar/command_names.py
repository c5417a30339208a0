"""Finds out which command a line names, slips included, and whether it stands there in full; and
which userids nobody can have, since they would pass for a word of a command or for somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from string import digits

from pbmserv.commands.grammar.cursor import UNTIL
from pbmserv.commands.grammar.words import (
    BOARD,
    OFF,
    PLAN_WORDS,
    POLITE,
    SETTINGS,
    Word,
    first_and_last_day,
    is_userid,
    looks_like_a_move,
    without_please,
)
from pbmserv.commands.table.catalogue import (
    BY_NAME,
    MEANT_BY,
    MULTIPLE,
    ROWS,
    STOPS,
    WHICH,
    command_meant,
    command_one_edit_away,
    suggested_command,
)
from pbmserv.commands.table.row_types import NO_LIMIT, Kind, Row, Scope, Trait
from pbmserv.commands.table.spelling import nearest_name
from pbmserv.engine.types import BOT_USERIDS

_LONGEST_PORT = 2
_AS_MOVES = frozenset({"resign", "undo"})
"""Commands that people write where a move stands."""

_SAID_AS_MOVES = frozenset({"pass", "swap", "propose", "draw"})
"""Moves of some games that people write in the command's place: ``game propose 12 ...``."""

EVERY_GAME = "all"
"""Stands in a game's place: ``all show alice``."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first words of a line try to say.

    Exactly one of `row` and `unknown` says what was found.

    Attributes:
        front: the game's word as the echo repeats it, or ``""``.
        game: the game it names; ``None`` for none, or for every game.
        row: the command.
        rest: place of the first argument.
        unknown: ``"game"`` or ``"command"``: the word that is none.
        suggestion: what that word may mean, or ``""``.
        move: a move that stood in the command's place, so it is missing behind it.
    """

    front: str
    game: str | None
    row: Row | None
    rest: int
    unknown: str = ""
    suggestion: str = ""
    move: tuple[Word, ...] = ()


def find_head(words: Sequence[Word], games: Collection[str]) -> Head | None:
    """The head of a line, or ``None`` when the line does not try to be a command."""
    front, game, at = _game(words, games)
    found = _named(words, front, game, at)
    if found is not None or front == EVERY_GAME:
        return found
    word = words[at].plain
    suggestion = _suggestion(word)
    if front:
        return Head(front, game, None, at, unknown="command", suggestion=suggestion)
    if len(words) > 2 and _names_a_command(words):
        known = tuple(sorted(games))
        return Head("", None, None, 1, unknown="game", suggestion=nearest_name(word, known) or "")
    if suggestion and _may_mean(suggestion, words[1:], games):
        return Head("", None, None, 0, unknown="command", suggestion=suggestion)
    return None


def find_command(words: Sequence[Word], games: Collection[str]) -> Head | None:
    """The head of a line that names a command, known slips included; no guesses (and so quick)."""
    front, game, at = _game(words, games)
    return _named(words, front, game, at)


_OPENINGS = frozenset({"play", "start", "begin", "new", "another", "a", "game", "match", "of"})
_PLAYED = frozenset({"play", "game", "match"})


def spoken_challenge(words: Sequence[Word], games: Collection[str]) -> Head | None:
    """The head of a challenge in plain words, "new game with dave"; ``None`` for all else."""
    plain = [word.plain for word in words]
    at = next((n for n, one in enumerate(plain) if one in {"with", "against"}), 0)
    if at == 0:
        return None
    opening, behind = plain[:at], without_please(words[at + 1 :])
    names = [word for word in behind if not word.text.startswith("-") and word.plain != "the"]
    named = [one for one in opening if one in games]
    known = _OPENINGS.union(games).issuperset(opening)
    if not (known and (named or not _PLAYED.isdisjoint(opening)) and 0 < len(names) <= 2):
        return None
    if not all(is_userid(word.plain) or "@" in word.text for word in names):
        return None
    game = named[0] if named else None
    return Head(game or "", game, BY_NAME["challenge"], at)


def _game(words: Sequence[Word], games: Collection[str]) -> tuple[str, str | None, int]:
    """The game in front of a command: its word, the game, and the place behind it."""
    first = words[0].plain
    if first in games:
        return first, first, 1
    if len(words) < 2 or first in BY_NAME:
        return "", None, 0
    if first == EVERY_GAME:
        return first, None, 1
    second = words[1].plain
    if first + second in games:
        return first + second, first + second, 2
    if second in BY_NAME or command_meant(second) is not None:
        near = nearest_name(first, sorted(games))
        if near is not None:
            return near, near, 1
    return "", None, 0


def _named(words: Sequence[Word], front: str, game: str | None, at: int) -> Head | None:
    """The head when a command is named; a game by itself asks for its help."""
    if at >= len(words):
        return Head(front, game, BY_NAME["help"], at)
    return _command(words, at, front, game)


def _command(words: Sequence[Word], at: int, front: str, game: str | None) -> Head | None:
    """The command at a place: one word or two, as it is or misspelt."""
    word = words[at].plain
    following = words[at + 1].text.lower() if at + 1 < len(words) else ""
    pair = f"{word} {following}"
    row = BY_NAME.get(pair) or _guessed(command_meant(pair))
    if row is not None:
        return Head(front, game, row, at + 2)
    row = BY_NAME.get(word) or _guessed(command_meant(word)) or _asked_for(words[at:])
    if word == "board" and holds_a_move(words[at + 1 :]):
        row = BY_NAME["move"]
    if row is not None:
        return Head(front, game, row, at + 1)
    if word in _SAID_AS_MOVES and front and is_number(following):
        return Head(front, game, BY_NAME["move"], at + 1, move=(words[at],))
    # Without a game in front, a number must follow: "more ..." is English, "movr 12 ..." is not.
    if front or is_number(following):
        row = _guessed(command_one_edit_away(word))
        if row is not None and (front or row.name[0] == word[0]):  # "what 5 ..." is English, too
            return Head(front, game, row, at + 1)
    return None


def _asked_for(words: Sequence[Word]) -> Row | None:
    """A command that only looks, as a question of one word: "help?", "games?"."""
    row = BY_NAME.get(words[0].plain.rstrip("?! ")) if len(words) == 1 else None
    return row if row is not None and Trait.LOOKS in row.traits else None


def holds_a_move(behind: Sequence[Word]) -> bool:
    """Whether "board 12 ..." is a move, as the server of 1994 took it, and no list of boards."""
    texts = [word.text.lower().rstrip(",;:") for word in behind]
    if len(texts) < 2 or not is_number(texts[0]):
        return False
    if all(map(BOARD.fullmatch, texts)):
        return len(texts) == 2 and behind[0].text.endswith(":")  # "board 12: 5"
    last = texts[-1]  # "Board 12 was handed over" is English
    return len(last) <= _LONGEST_PORT or last in _AS_MOVES or looks_like_a_move(last)


def _guessed(row: Row | None) -> Row | None:
    """A command whose name was misspelt, unless carrying it out cannot be taken back."""
    return None if row is not None and Trait.FINAL in row.traits else row


def _names_a_command(words: Sequence[Word]) -> bool:
    """Whether the second word is a game command and its first argument fits."""
    row = BY_NAME.get(words[1].plain)
    if row is None or row.scope is not Scope.GAME or not row.parameters:
        return False
    kind = row.parameters[0].kind
    return kind in {Kind.PLAYERS, Kind.ALONE} or (kind is Kind.BOARD and is_number(words[2].text))


def _may_mean(name: str, rest: Sequence[Word], games: Collection[str]) -> bool:
    """Whether what follows a misspelt command could belong to it.

    "What a day", "last week" and "except me" are English, though a command is near.
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
            return all(text in games for text in texts)
        case Kind.SUBJECTS | Kind.PEOPLE:
            return len(rest) == 1
        case Kind.WATCHED:
            return len(rest) <= 2
    least, most = row.min_words, row.max_words
    if name == "change password":  # also for a change of something else
        return len(rest) <= most + 1
    return least <= len(rest) <= (most if most < NO_LIMIT else least + 6)


def _suggestion(word: str) -> str:
    if word in {"change", "chnage"}:
        return "change password"
    return suggested_command(word) or ""


def is_number(text: str) -> bool:
    """Whether a word is a board number: ``12`` or ``#12``."""
    digits = text[1:] if text[:1] == "#" else text
    return digits.isascii() and digits.isdigit()


_ENGLISH = frozenset(
    {"to", "at", "in", "on", "from", "for", "with", "and", "the", "this", "that", "it", "my"}
    | {"all", "home", "again", "now", "here", "please"}
)
"""Words behind "back" or "delete" with which no userid is meant."""


def has_credentials(row: Row, rest: Sequence[Word], *, named: bool) -> bool:
    """Whether the words behind a command are those of its form in a subject.

    Args:
        row: the command.
        rest: the words behind its name.
        named: a game stands in front.
    """
    if not row.secrets:
        return named and bool(rest)
    if len(rest) < 2:
        return False
    if row.parameters[0].kind is Kind.BOARD:
        return _on_a_board(row, rest)
    if row.parameters[0].kind is not Kind.USERID or not is_userid(rest[0].text.lower()):
        return False
    return _by_last_place(row.parameters[-1].kind, rest)


def _by_last_place(kind: Kind, rest: Sequence[Word]) -> bool:
    """What the words behind a command are, by what its last place holds."""
    first = rest[0].text.lower()
    match kind:
        case Kind.NEW_PASSWORD:
            return False  # a reply to the letter that asks for a new password has just that
        case Kind.SETTINGS:
            return first not in SETTINGS
        case Kind.DATE:
            said = " ".join(word.text for word in rest)
            days = said[4:] if first == "for" else said  # "away for 2 weeks"
            return first not in UNTIL | {"from"} and first_and_last_day(days) is None
        case Kind.SUBJECTS:  # the hour of the daily box
            return first not in {"at", "every", "from"} | OFF and not first[:1].isdigit()
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
    """Whether a word says which boards to show."""
    text = word.text.lower().rstrip(",")
    return text in WHICH or BOARD.fullmatch(text) is not None


def _on_a_board(row: Row, rest: Sequence[Word]) -> bool:
    board, who = (rest[0], rest[1]) if is_number(rest[0].text) else (rest[1], rest[0])
    if not is_number(board.text) or not is_userid(who.text):
        return False
    if board is rest[1] and len(rest) < row.min_words:
        return False
    if row.name == "chat":
        return len(rest) == 3
    return who.text.lower() not in PLAN_WORDS


NEUTRAL = "gone-"
"""How the userid of a deleted player begins; the rest is a number."""

STAFF = frozenset(
    ("admin", "admins", "administrator", "operator", "operators", "support", "staff", "team",
     "moderator", "sysop", "owner", "root", "system", "server", "service", "official", "bot",
     "gamemaster", "house", "pbm", "pbmserv", "nobody", "everybody", "anybody", "anonymous",
     "yourname", "theirname")  # as in the examples on our pages
) | frozenset(
    # RFC 2142, and what mail servers call themselves
    ("postmaster", "hostmaster", "webmaster", "abuse", "security", "noc", "info", "sales",
     "marketing", "news", "usenet", "www", "ftp", "uucp", "noreply", "no-reply", "donotreply",
     "mailer", "daemon", "mailer-daemon", "mail", "email", "listserv", "majordomo", "localhost")
)  # fmt: skip
"""What the people and programs of a server are called."""

_ALIKE = str.maketrans("01i", "oll", "-_.")
"""Characters that look alike, and those that hardly show."""

_BETWEEN = re.compile(r"[-_.]+")


def looks(name: str) -> str:
    """What a name looks like at a glance; two names that do are told apart by nobody."""
    return name.lower().translate(_ALIKE)


_WORDS = frozenset(
    looks("".join(name.split()))
    for name in (
        *(one for row in ROWS for one in (*row.names, *row.synonyms)),
        *(word for row in ROWS for one in row.names for word in one.split()),
        *MEANT_BY,
        *MULTIPLE,
        *STOPS,
        *WHICH,
        *BOT_USERIDS,
        *(level for userid in BOT_USERIDS for level in userid.split("-")),
        *POLITE,
        "against",
        "all",
        "off",
        "the",
        "until",
        "with",
    )
)
_STAFF = frozenset(map(looks, STAFF))


def is_reserved(userid: str, games: Iterable[str], server: str) -> bool:
    """Whether nobody can have a userid.

    Args:
        userid: in any letter case.
        games: keys and titles of the games of this server.
        server: its own address; its parts are nobody's, the country's or ``com`` apart.
    """
    name = looks(userid)
    if not name or userid.translate(_ALIKE).isdigit() or _BETWEEN.sub("", userid).isdigit():
        return True
    if userid.lower().startswith(NEUTRAL):
        return True
    parts = (userid, *_BETWEEN.split(userid))
    numbered = (bare for part in parts for bare in (part, part.rstrip(digits), part.strip(digits)))
    if any(looks(one) in _STAFF for one in numbered):  # "operator2" is no other operator
        return True
    local, _, domain = server.partition("@")
    labels = domain.split(".")
    own = (local, domain, *(labels[:-1] or labels), *games)
    if command_meant(userid.lower()) is not None:  # "mvoe" would pass for a command
        return True
    return name in _WORDS or name in {looks("".join(one.split())) for one in own}
