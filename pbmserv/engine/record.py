r"""The record of a board, which is the truth, and a finished game's record as a text.

A decoded state is only ever a cache of what a record comes to. The text can be read by people and
played back::

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

A line that would be too long ends with a backslash and goes on, indented, in the next one. A
``seed:`` line stands in the head only where the game cannot be played back without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pbmserv.engine.types import Seat
from pbmserv.errors import NotUnderstood

VERSION = 1
FIRST_LINE = "pbmserv record"
WIDTH = 76
NO_SEED = b""

_INDENT = "    "
_FIELD = re.compile(r"([a-z]+):(?: (.*))?")
_PLY = re.compile(r"([1-9][0-9]{0,8})\. (\S+)( \(free\))?: (.*)")
_REQUIRED = ("game", "rules", "players")

WITHDRAW = "resign"
"""The canonical text that every game's record uses for a withdrawal."""

FORFEIT = "forfeit"
"""The text of a withdrawal by the clock: its player took too long."""

UNDO = "undo"
"""The text of a ply that takes back its seat's last ply. It is free; nothing leaves the log."""


REDO = "redo"
"""The text of a ply that brings back what the last undo took back; only in practice."""

RESTART = "restart"
"""The text of a ply that begins the board anew; only in practice."""

HINT = "hint"
"""The text of a ply by which its seat asked for a hint. It is free; what it costs the game knows,
and what the hint says is worked out from the position after it."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One applied move.

    Attributes:
        number: 1-based place in the record.
        seat: who made it.
        text: canonical text, `WITHDRAW`, `FORFEIT`, `UNDO`, `REDO`, `RESTART` or
            `HINT`.
        free: used no turn.
    """

    number: int
    seat: Seat
    text: str
    free: bool


@dataclass(frozen=True, slots=True)
class GameRecord:
    """Everything needed to play a board again from nothing.

    Attributes:
        game: key in the registry.
        rules_version: of that game.
        seats: number of players.
        options: canonical option words.
        seed: secret random bytes; never in a letter, log or URL.
        plies: in order, numbered from 1 without gaps.
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
        record: its seed is `NO_SEED` where the game can be played back without.
        names: userids by seat, all different.
        board: its number.
        ended: the day on which it ended, ``2026-03-05``.
        result: places and reason in a few words; playing it back comes to the same.
    """

    record: GameRecord
    names: tuple[str, ...]
    board: int
    ended: str
    result: str


def result_of(names: Sequence[str], places: Sequence[int], reason: str) -> str:
    """The result as the head of the text has it."""
    placed = ", ".join(f"{name} {place}" for name, place in zip(names, places, strict=True))
    return f"{placed} ({reason})"


def write_record(sheet: Scoresheet) -> str:
    """The text of a finished game; `read_record` reads it again."""
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
    if record.seed != NO_SEED:
        head.append(f"seed: {record.seed.hex()}")
    moves = [
        f"{ply.number}. {sheet.names[ply.seat]}{' (free)' if ply.free else ''}: {ply.text}"
        for ply in record.plies
    ]
    lines = [*map(_folded, head), "", *map(_folded, moves), "end"]
    return "\n".join(lines) + "\n"


def read_record(text: str) -> Scoresheet:
    """The game of a text; lines above and below it do not matter.

    Raises:
        NotUnderstood: with the number of the line (0 = something is missing).
    """
    lines = _unfolded(text)
    for _, line in lines:
        found = re.fullmatch(rf"{FIRST_LINE} ([0-9]{{1,9}})", line)
        if found:
            break
    else:
        raise NotUnderstood("record.none", line=0)
    if int(found[1]) != VERSION:
        raise NotUnderstood("record.version", part=found[1], line=0, known=VERSION)
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
            tuple(_read_plies(lines, names)),
        )
        board = int(head.get("board", "0"))
    except ValueError:
        raise NotUnderstood("record.number", line=0) from None
    return Scoresheet(record, names, board, head.get("ended", ""), head.get("result", ""))


def _read_head(lines: Iterator[tuple[int, str]]) -> dict[str, str]:
    head: dict[str, str] = {}
    for number, line in lines:
        if not line:
            break
        found = _FIELD.fullmatch(line)
        if found is None:
            raise NotUnderstood("record.line", part=line, line=number)
        head[found[1]] = (found[2] or "").strip()
    for field in _REQUIRED:
        if not head.get(field):
            raise NotUnderstood("record.missing", part=field, line=0)
    return head


def _read_plies(lines: Iterator[tuple[int, str]], names: Sequence[str]) -> Iterator[Ply]:
    count = 0
    for number, line in lines:
        if line == "end":
            return
        if not line:
            continue
        found = _PLY.fullmatch(line)
        if found is None or int(found[1]) != count + 1 or found[2] not in names:
            raise NotUnderstood("record.line", part=line, line=number)
        count += 1
        yield Ply(count, Seat(names.index(found[2])), found[4], found[3] is not None)
    raise NotUnderstood("record.no-end", line=0)


def _folded(line: str) -> str:
    """A line, broken where it is too long; never before a blank, which would be lost."""
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
    if line.endswith("\\"):  # its own backslash, not ours
        pieces[-1] += "\\"
        pieces.append("")
    return f"\n{_INDENT}".join(pieces)


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, put together where they were broken."""
    parts: list[str] = []
    begun = 0
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        piece = raw.strip(" ")
        begun = begun or number
        if piece.endswith("\\"):
            parts.append(piece[:-1])
            continue
        yield begun, "".join((*parts, piece))
        parts, begun = [], 0
