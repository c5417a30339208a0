r"""The record of a board, from which its state is replayed, and its text for a finished game.

The record is the truth, and a stored state is only a cache. People can read the text, and programs
can replay it::

    pbmserv record 1
    game: blackbox
    rules: 1
    board: 12
    players: alice, bob
    options: -fair
    ended: 2026-03-05
    result: alice 1, bob 2 (solved)

    1. alice: B2,F4,G1
    2. bob: A1,C4,E5
    3. alice: 5
    4. bob (free): +b2
    end

A long line ends with a backslash and continues, indented, in the next one. The head has a ``seed:``
line with the pledged seed (`engine.proof`), and a line ``mixed: 1=3f0c…`` that names the plies with
marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pbmserv.engine.types import Seat
from pbmserv.errors import NotUnderstood

VERSION = 1
FIRST_LINE = "pbmserv record"
WIDTH = 76

_INDENT = "    "
_FIELD = re.compile(r"([a-z]+):(?: (.*))?")
_PLY = re.compile(r"([1-9][0-9]{0,8})\. (\S+)( \(free\))?: (.*)")
_MARK = re.compile("[0-9a-f]{32}")
_DRAWN = "drawn by lot"
_REQUIRED = ("game", "rules", "players")

WITHDRAW = "resign"
"""The text of a withdrawal in the records of all games."""

FORFEIT = "forfeit"
"""The text of a withdrawal by the clock, since the player took too long."""

DECLINE = "decline"
"""The text of a withdrawal from a race that the player never accepted. The others go on."""

LAPSE = "lapse"
"""The text of the ply that ends a board of an event for which both players took too long."""

CLAIM = "claim"
"""The text of a ply that claims a draw, since the other player has been silent for a long time."""

NOT_PLAYED = frozenset((FORFEIT, DECLINE, LAPSE))
"""Texts of plies by which a player ends a game without writing a move or giving up."""

EARLY_ENDS = NOT_PLAYED | {WITHDRAW, CLAIM}
"""Texts of plies that end a game before its rules do, and are not moves."""

UNDO = "undo"
"""The text of a ply that takes back the last ply of its seat. It is free, and both stay in the
record."""

REDO = "redo"
"""The text of a ply that repeats the ply taken back by the last undo; only in practice."""

RESTART = "restart"
"""The text of a ply that restarts the board; only in practice."""

JOIN = "join"
"""The text of a ply that mixes a mail into chance before the first move.

It is free, and the game begins again. The mail accepts a board whose game draws before the first
move, finds opponents whose sides are drawn, or is the first one of a player alone.
"""

DUPLICATE = "-duplicate"
"""The option word of boards of a duplicate event: all draws come from the seed alone, which these
boards share, and no mail is mixed in. No player can choose it."""

HINT = "hint"
"""The text of a ply that asks for a hint.

It is free. The game counts its cost, and the hint is worked out from the position after it.
"""


@dataclass(frozen=True, slots=True)
class Ply:
    """An applied move.

    Attributes:
        number: its number in the record, counted from 1.
        seat: the seat that made it.
        text: the canonical text, or a word of this module (`WITHDRAW`, `UNDO` …).
        free: whether it used no turn.
        mark: the mark of the mail that is mixed into chance here; ``""`` for none.
    """

    number: int
    seat: Seat
    text: str
    free: bool
    mark: str = ""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """The facts from which a board is replayed.

    Attributes:
        game: the key of the game in the registry.
        rules_version: the version of its rules.
        seats: the number of players.
        options: the canonical option words.
        seed: secret random bytes, never part of a letter, log or URL.
        plies: the plies in order, numbered from 1 without gaps.
    """

    game: str
    rules_version: int
    seats: int
    options: tuple[str, ...]
    seed: bytes
    plies: tuple[Ply, ...] = ()


@dataclass(frozen=True, slots=True)
class Scoresheet:
    """A finished game.

    Attributes:
        record: the record; its seed is empty if the text has none.
        names: different userids by seat.
        board: the number of the board.
        ended: the day of its end, such as ``2026-03-05``.
        result: places and reason in a few words, which follow from the record.
        sides_drawn: whether the seats were drawn from the seed.
    """

    record: GameRecord
    names: tuple[str, ...]
    board: int
    ended: str
    result: str
    sides_drawn: bool = False


def result_of(names: Sequence[str], places: Sequence[int], reason: str) -> str:
    """Return the result for the head of the text."""
    placed = ", ".join(f"{name} {place}" for name, place in zip(names, places, strict=True))
    return f"{placed} ({reason})"


def write_record(sheet: Scoresheet) -> str:
    """Return the text of a finished game, which `read_record` reads."""
    record = sheet.record
    head = [
        f"{FIRST_LINE} {VERSION}",
        f"game: {record.game}",
        f"rules: {record.rules_version}",
        f"board: {sheet.board}",
        f"players: {', '.join(sheet.names)}",
        f"options: {' '.join(record.options)}".rstrip(),
        f"ended: {sheet.ended}",
        f"result: {sheet.result}",
    ]
    if record.seed:
        head.append(f"seed: {record.seed.hex()}")
    if sheet.sides_drawn:
        head.append(f"sides: {_DRAWN}")
    if marks := [f"{ply.number}={ply.mark}" for ply in record.plies if ply.mark]:
        head.append(f"mixed: {' '.join(marks)}")
    moves = [
        f"{ply.number}. {sheet.names[ply.seat]}{' (free)' if ply.free else ''}: {ply.text}"
        for ply in record.plies
    ]
    lines = [*map(_folded, head), "", *map(_folded, moves), "end"]
    return "\n".join(lines) + "\n"


def read_record(text: str) -> Scoresheet:
    """Return the game of a text. Lines above and below it are ignored.

    Raises:
        NotUnderstood: a line is wrong, and the refusal has its number; 0 if a line is missing.
    """
    lines = _unfolded(text)
    for _, line in lines:
        version = re.fullmatch(rf"{FIRST_LINE} ([0-9]{{1,9}})", line)
        if version:
            break
    else:
        raise NotUnderstood("record.none", line=0)
    if int(version[1]) != VERSION:
        raise NotUnderstood("record.version", part=version[1], line=0, known=VERSION)
    head = _read_head(lines)
    names = tuple(name.strip() for name in head["players"].split(","))
    if not all(names) or len(set(names)) != len(names):
        raise NotUnderstood("record.players", part=head["players"], line=0)
    try:
        record = GameRecord(
            head["game"],
            int(head["rules"]),
            len(names),
            tuple(head.get("options", "").split()),
            bytes.fromhex(head.get("seed", "")),
            tuple(_read_plies(lines, names, _read_marks(head.get("mixed", "")))),
        )
        board = int(head.get("board", "0"))
    except ValueError:
        raise NotUnderstood("record.number", line=0) from None
    sides_drawn = head.get("sides") == _DRAWN
    ended, result = head.get("ended", ""), head.get("result", "")
    return Scoresheet(record, names, board, ended, result, sides_drawn)


def _read_head(lines: Iterator[tuple[int, str]]) -> dict[str, str]:
    head: dict[str, str] = {}
    for number, line in lines:
        if not line:
            break
        field = _FIELD.fullmatch(line)
        if field is None:
            raise NotUnderstood("record.line", part=line, line=number)
        head[field[1]] = (field[2] or "").strip()
    for required in _REQUIRED:
        if not head.get(required):
            raise NotUnderstood("record.missing", part=required, line=0)
    return head


def _read_marks(text: str) -> dict[int, str]:
    """Return the marks of the line ``mixed:`` by the numbers of their plies."""
    marks: dict[int, str] = {}
    for word in text.split():
        number, _, mark = word.partition("=")
        if not number.isdecimal() or not _MARK.fullmatch(mark):
            raise NotUnderstood("record.line", part=word, line=0)
        marks[int(number[:9])] = mark
    return marks


def _read_plies(
    lines: Iterator[tuple[int, str]], names: Sequence[str], marks: Mapping[int, str]
) -> Iterator[Ply]:
    count = 0
    for number, line in lines:
        if line == "end":
            return
        if not line:
            continue
        ply = _PLY.fullmatch(line)
        if ply is None or int(ply[1]) != count + 1 or ply[2] not in names:
            raise NotUnderstood("record.line", part=line, line=number)
        count += 1
        mark = marks.get(count, "")
        yield Ply(count, Seat(names.index(ply[2])), ply[4], ply[3] is not None, mark)
    raise NotUnderstood("record.no-end", line=0)


def _folded(line: str) -> str:
    """Return a line folded to the width, but not in front of a blank, which would be lost."""
    pieces: list[str] = []
    room = WIDTH - 1
    while len(line) > room:
        cut = room
        while cut > 1 and line[cut] == " ":
            cut -= 1
        pieces.append(line[:cut] + "\\")
        line = line[cut:]
        room = WIDTH - 1 - len(_INDENT)
    pieces.append(line)
    if line.endswith("\\"):  # the backslash is part of the line
        pieces[-1] += "\\"
        pieces.append("")
    return f"\n{_INDENT}".join(pieces)


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a folded text with their numbers."""
    parts: list[str] = []
    first_number = 0
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        piece = raw.strip(" ")
        first_number = first_number or number
        if piece.endswith("\\"):
            parts.append(piece[:-1])
            continue
        yield first_number, "".join((*parts, piece))
        parts, first_number = [], 0
