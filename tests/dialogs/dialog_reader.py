"""Reads a dialog: a text file with the mails of players and the expected letters.

README.md beside this file explains the format. Everything else in a file is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DOMAIN = "players.example"
"""Domain of players who are named without an address: alice is alice@players.example."""

INDENT = 4
"""Columns before the text of a mail, and before an expected phrase."""

BLOCK = 8
"""Columns before lines that a letter must contain exactly."""

ALSO = "also on: PostgreSQL"
"""The line of a dialog that is played on PostgreSQL, too."""

_ONLY = {"also on": ALSO, "games": "games: all"}
"""The only lines that begin with these words."""

SETTINGS = frozenset({"signup", "web_url", "operators"})

_HEADER = re.compile(r"([A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)*): ?(.*)")
_WHO = r"(?P<who>[a-z0-9_-]+(?:@[a-z0-9.-]+)?)"
_STEPS = {
    "nobody": re.compile(r"nobody gets a letter"),
    "write": re.compile(rf"{_WHO} writes"),
    "reply": re.compile(rf"{_WHO} replies(?: to the (?P<letter>[a-z ]+))?"),
    "again": re.compile(rf"{_WHO} sends it again"),
    "get": re.compile(rf"{_WHO} gets (?:a letter|the (?P<letter>[a-z ]+))"),
    "back": re.compile(rf"the letter to {_WHO} comes back: (?P<said>[45]\d\d [45]\.\d+\.\d+ .+)"),
    "days": re.compile(r"(?:a day passes|(?P<days>[2-9]|[12]\d) days pass)"),
    "down": re.compile(r"the server is down for a week"),
    "refused": re.compile(r"the mail is turned away: (?P<reply>[45]\d\d .+)"),
}
_GAME = re.compile(r"(\S+) hides (\S+) and (\S+) hides (\S+)(?: with (-.+))?")
_NEEDS_TEXT = frozenset({"write", "reply"})
_TAKES_TEXT = frozenset({"write", "reply", "get"})


class DialogError(Exception):
    """The file is not a dialog; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Written:
    """A mail from a player.

    Attributes:
        answers: name of the letter that it replies to; ``""`` for the newest letter, ``None`` if
            it is not a reply.
        headers: headers of the file, which replace the usual ones.
    """

    line: int
    who: str
    answers: str | None
    headers: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, slots=True)
class SentAgain:
    """The same octets as the mail before."""

    line: int
    who: str


@dataclass(frozen=True, slots=True)
class Expected:
    """A text that must be in a letter, or must not be (`absent`).

    Attributes:
        text: a phrase, or consecutive whole lines (`exact`).
    """

    line: int
    text: str
    exact: bool = False
    absent: bool = False
    subject: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """An expected letter.

    Attributes:
        name: its name for a later reply, or ``""``.
    """

    line: int
    who: str
    name: str
    expected: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Silence:
    """No letter comes to anybody."""

    line: int


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """The mail before is refused with this SMTP reply."""

    line: int
    reply: str


@dataclass(frozen=True, slots=True)
class CameBack:
    """A report of a mail server that it could not deliver the newest letter."""

    line: int
    who: str
    reply: str


@dataclass(frozen=True, slots=True)
class DaysPass:
    """Days on which the server runs, or is `down`."""

    line: int
    days: int
    down: bool


Step = Written | SentAgain | Arrival | Silence | TurnedAway | CameBack | DaysPass


@dataclass(frozen=True, slots=True)
class Game:
    """A board on which both players have hidden their atoms, and the first is to fire."""

    players: tuple[str, str]
    hidden: tuple[str, str]
    options: str


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog file.

    Attributes:
        also_on_postgresql: whether it is played on PostgreSQL, too.
        settings: settings of the server by their names in lower case.
        players: userids and passwords of players who exist from the beginning.
        games: boards that exist from the beginning, numbered from 1.
        passwords: all passwords in the file, right or wrong.
        has_every_game: whether its server has all games, not Blackbox alone.
    """

    path: Path
    also_on_postgresql: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    players: tuple[tuple[str, str], ...] = ()
    games: tuple[Game, ...] = ()
    passwords: frozenset[str] = frozenset()
    steps: tuple[Step, ...] = ()
    has_every_game: bool = False

    @property
    def seated(self) -> tuple[tuple[str, str], ...]:
        """The first players, up to the last one who sits at a board from the beginning."""
        sitting = {userid for game in self.games for userid in game.players}
        last = max((n for n, (name, _) in enumerate(self.players, 1) if name in sitting), default=0)
        return self.players[:last]


def address_of(who: str) -> str:
    """Return the mail address of a name in a dialog."""
    return who if "@" in who else f"{who}@{DOMAIN}"


def read_dialog(path: Path) -> Dialog:
    """Read a dialog file.

    Raises:
        DialogError: something in it is not part of the format.
    """
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = path.read_text("utf-8").split("\n")
        self._also_on_postgresql = False
        self._has_every_game = False
        self._settings: dict[str, str] = {}
        self._players: list[tuple[str, str]] = []
        self._games: list[Game] = []
        self._passwords: set[str] = set()
        self._steps: list[Step] = []
        self._letters: set[str] = set()

    def read(self) -> Dialog:
        if not self._lines[0].startswith("# "):
            raise self._error(1, "a dialog begins with a comment that tells its story")
        for number, head, text in self._paragraphs():
            name, colon, value = head.partition(": ")
            if colon and name in {"also on", "games", "setting", "player", "game", "password"}:
                self._preface(number, name, value, text)
            else:
                self._steps.append(self._step(number, head, text))
        self._check_order()
        return Dialog(
            self._path,
            self._also_on_postgresql,
            self._settings,
            tuple(self._players),
            tuple(self._games),
            frozenset(self._passwords),
            tuple(self._steps),
            self._has_every_game,
        )

    def _paragraphs(self) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
        """Yield each line at the margin with the indented lines below it."""
        head, text = (0, ""), list[tuple[int, str]]()
        for number, line in enumerate(self._lines, 1):
            if not line.strip():
                text.append((number, ""))
            elif line.startswith("    "):
                if not head[0]:
                    raise self._error(number, "this indented line belongs to nothing")
                text.append((number, line[INDENT:]))
            elif line[0].isspace():
                raise self._error(number, f"text is indented by {INDENT} blanks")
            elif not line.startswith("#"):
                if head[0]:
                    yield *head, _trimmed(text)
                head, text = (number, line.rstrip()), []
        if head[0]:
            yield *head, _trimmed(text)

    def _preface(self, number: int, name: str, value: str, text: list[tuple[int, str]]) -> None:
        if self._steps or text:
            raise self._error(number, f"{name} stands alone, above all that happens")
        if name in _ONLY:
            if f"{name}: {value}" != _ONLY[name]:
                raise self._error(number, f"the only such line is: {_ONLY[name]}")
            self._also_on_postgresql |= name == "also on"
            self._has_every_game |= name == "games"
        elif name == "setting":
            key, equals, chosen = value.partition("=")
            if key not in SETTINGS or not equals:
                raise self._error(number, f"no such setting; there are {sorted(SETTINGS)}")
            self._settings[key] = chosen
        elif name == "player":
            words = value.split()
            if len(words) != 2:
                raise self._error(number, "a player is a userid and a password")
            self._players.append((words[0], words[1]))
            self._passwords.add(words[1])
        elif name == "game":
            match = _GAME.fullmatch(value)
            userids = {userid for userid, _ in self._players}
            if match is None or not {match[1], match[3]} <= userids:
                raise self._error(number, "a game is: PLAYER hides B2 and PLAYER hides C3 with -…")
            self._games.append(Game((match[1], match[3]), (match[2], match[4]), match[5] or ""))
        else:
            self._passwords.add(value)

    def _step(self, number: int, head: str, text: list[tuple[int, str]]) -> Step:
        matches = ((kind, form.fullmatch(head)) for kind, form in _STEPS.items())
        kind, match = next((pair for pair in matches if pair[1]), ("", None))
        if match is None:
            raise self._error(number, f'"{head}" is nothing that can happen in a dialog')
        if kind in _NEEDS_TEXT and not text:
            raise self._error(number, "the mail is missing, indented, below this line")
        if kind not in _TAKES_TEXT and text:
            raise self._error(number, "nothing belongs below this line")
        match kind:
            case "write":
                return Written(number, match["who"], None, *self._mail(text))
            case "reply":
                answers = self._known_letter(number, match["letter"])
                return Written(number, match["who"], answers, *self._mail(text))
            case "again":
                return SentAgain(number, match["who"])
            case "get":
                name = self._new_letter(number, match["letter"])
                return Arrival(number, match["who"], name, self._expectations(text))
            case _:
                return _happening(number, kind, match)

    def _known_letter(self, number: int, name: str | None) -> str:
        if name and name not in self._letters:
            raise self._error(number, f'nobody has got a letter "the {name}"')
        return name or ""

    def _new_letter(self, number: int, name: str | None) -> str:
        if name in self._letters:
            raise self._error(number, f'"the {name}" is the name of two letters')
        self._letters |= {name} if name else set()
        return name or ""

    def _mail(self, text: list[tuple[int, str]]) -> tuple[tuple[tuple[str, str], ...], str]:
        """Return the headers, if the first line is one, and the body."""
        headers: list[tuple[str, str]] = []
        lines = [line for _, line in text]
        while lines and (match := _HEADER.fullmatch(lines[0])):
            headers.append((match[1], match[2]))
            lines.pop(0)
        if headers and lines and lines[0]:
            raise self._error(text[0][0], "a blank line stands between headers and body")
        return tuple(headers), "\n".join(lines[1:] if headers else lines)

    def _expectations(self, text: list[tuple[int, str]]) -> tuple[Expected, ...]:
        expectations: list[Expected] = []
        block: list[tuple[int, str]] = []
        for number, line in [*text, (0, "end")]:
            if block and (not line or line.startswith("    ")):
                block.append((number, line))
                continue
            if block:
                lines = [shown[BLOCK - INDENT :].rstrip() for _, shown in _trimmed(block)]
                expectations.append(Expected(block[0][0], "\n".join(lines), exact=True))
                block = []
            if not line or not number:
                continue
            if line.startswith("    "):
                block.append((number, line))
            elif line[0] == " ":
                raise self._error(number, f"whole lines are indented by {BLOCK} blanks")
            elif line.startswith("Subject: "):
                expectations.append(Expected(number, line.removeprefix("Subject: "), subject=True))
            elif line.startswith("without: "):
                expectations.append(Expected(number, line.removeprefix("without: "), absent=True))
            else:
                expectations.append(Expected(number, line))
        return tuple(expectations)

    def _check_order(self) -> None:
        """Check that a mail comes first, and that its effect follows each mail."""
        if not self._steps or not isinstance(self._steps[0], Written):
            raise self._error(1, "somebody must write first")
        for step, following in zip(self._steps, [*self._steps[1:], None], strict=True):
            sent = isinstance(step, Written | SentAgain | CameBack | DaysPass)
            if sent and not isinstance(following, Arrival | Silence | TurnedAway):
                raise self._error(step.line, "what comes of this mail? (perhaps: nobody gets …)")

    def _error(self, line: int, why: str) -> DialogError:
        return DialogError(f"{self._path.name}:{line}: {why}")


def _happening(number: int, kind: str, match: re.Match[str]) -> Step:
    """Return a step without a text."""
    match kind:
        case "back":
            return CameBack(number, match["who"], match["said"])
        case "days":
            return DaysPass(number, int(match["days"] or 1), down=False)
        case "down":
            return DaysPass(number, 7, down=True)
        case "refused":
            return TurnedAway(number, match["reply"])
        case _:
            return Silence(number)


def _trimmed(text: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines without blank ones at the end."""
    end = len(text)
    while end and not text[end - 1][1].strip():
        end -= 1
    return text[:end]
