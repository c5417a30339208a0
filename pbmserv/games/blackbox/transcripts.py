"""A game on one box as a text that people can read, with everything that was taken back in it.

::

    pbmserv transcript 1
    game: blackbox
    box: w8h8m5M5#123456789012345
    options: -practice -fair -clue
    seconds: 95

    1. A
    2. +B2,+C4
    3. restart
    4. G
    undone:
    5. 4,/B2
    end

Moves stand in their canonical text; besides them there are ``restart`` and ``solve``. What stands
below ``undone:`` was taken back and can be done again. Lines above the first and below ``end`` do
not matter. The ID of the box holds its atoms, so a transcript is for those who may know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from pbmserv.errors import NotUnderstood
from pbmserv.games.blackbox.game_ids import GameId, clipped, read_id

VERSION = 1
FIRST_LINE = "pbmserv transcript"
MOST_MOVES = 2000
MOST_CHARACTERS = 200_000
MOST_SECONDS = 10**9

SOLVE = "solve"
"""The word for giving up; that for beginning again is `engine.record.RESTART`."""

_FIRST = re.compile(rf"{FIRST_LINE} ([0-9]{{1,9}})")
_FIELD = re.compile(r"([a-z]+):(?: (.*))?")
_MOVE = re.compile(r"([1-9][0-9]{0,3})\. (\S.*)")
_SECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game on one box, as it is written down.

    Attributes:
        game: the box.
        options: words such as ``-guesses=3``; those about size and atoms are in the ID.
        seconds: for how long it was played.
        moves: what was done, taken back or not, in order.
        done: how many of them count; the rest was taken back.
    """

    game: GameId
    options: tuple[str, ...]
    seconds: int
    moves: tuple[str, ...]
    done: int


def write_transcript(transcript: Transcript) -> str:
    """The text; `read_transcript` reads it again."""
    moves = [f"{number}. {text}" for number, text in enumerate(transcript.moves, 1)]
    if transcript.done < len(moves):
        moves.insert(transcript.done, "undone:")
    head = (
        f"{FIRST_LINE} {VERSION}",
        "game: blackbox",
        f"box: {transcript.game.text}",
        f"options: {' '.join(transcript.options)}".rstrip(),
        f"seconds: {transcript.seconds}",
        "",
    )
    return "\n".join((*head, *moves, "end")) + "\n"


def read_transcript(text: str) -> Transcript:
    """Read a transcript. Whether its moves can be made is seen when they are (`practice`).

    Raises:
        NotUnderstood: with the number of the line that is wrong (0 = something is missing).
        OptionError: the game ID in it is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood("blackbox.transcript-long", length=len(text), most=MOST_CHARACTERS)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    _skip_to_first(lines)
    head = _read_head(lines)
    game = read_id(head["box"][1])
    line, seconds = head.get("seconds", (0, "0"))
    if not _SECONDS.fullmatch(seconds) or int(seconds) > MOST_SECONDS:
        _refuse("transcript-line", seconds, line)
    moves, done = _read_moves(lines)
    options = tuple(head.get("options", (0, ""))[1].split())
    return Transcript(game, options, int(seconds), tuple(moves), done)


def _skip_to_first(lines: Iterator[tuple[int, str]]) -> None:
    for number, line in lines:
        if found := _FIRST.fullmatch(line):
            if int(found[1]) != VERSION:
                _refuse("transcript-version", found[1], number)
            return
    _refuse("transcript-none", FIRST_LINE, 0)


def _read_head(lines: Iterator[tuple[int, str]]) -> dict[str, tuple[int, str]]:
    head: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        if not line:
            break
        found = _FIELD.fullmatch(line)
        if found is None or found[1] in head:
            _refuse("transcript-line", line, number)
        head[found[1]] = (number, (found[2] or "").strip())
    for field in ("game", "box"):
        if not head.get(field, (0, ""))[1]:
            _refuse("transcript-missing", field, 0)
    line_number, game = head["game"]
    if game != "blackbox":
        _refuse("transcript-game", game, line_number)
    return head


def _read_moves(lines: Iterator[tuple[int, str]]) -> tuple[list[str], int]:
    moves: list[str] = []
    done: int | None = None
    for number, line in lines:
        if line == "end":
            return moves, len(moves) if done is None else done
        if not line:
            continue
        if line == "undone:" and done is None:
            done = len(moves)
            continue
        found = _MOVE.fullmatch(line)
        if found is None or int(found[1]) != len(moves) + 1:
            _refuse("transcript-line", line, number)
        if len(moves) == MOST_MOVES:
            raise NotUnderstood("blackbox.transcript-moves", most=MOST_MOVES, line=number)
        moves.append(found[2])
    return _refuse("transcript-no-end", "end", 0)


def _refuse(code: str, part: str, line: int) -> NoReturn:
    raise NotUnderstood(f"blackbox.{code}", part=clipped(part), line=line, known=VERSION)
