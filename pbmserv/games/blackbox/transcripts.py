"""The transcript of a game on one box: a text that people can read, with all moves in it.

Moves that were taken back are included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from pbmserv.errors import NotUnderstood
from pbmserv.games.blackbox.game_ids import (
    GameId,
    cells_of,
    clipped,
    described,
    is_plain,
    seed_digits,
    seed_of_digits,
    stored_id,
)

VERSION = 1
FIRST_LINE = "pbmserv transcript"
MOST_MOVES = 2000
MOST_CHARACTERS = 200_000
MOST_SECONDS = 10**9

_FIRST = re.compile(rf"{FIRST_LINE} ([0-9]{{1,9}})")
_FIELD = re.compile(r"([a-z]+):(?: (.*))?")
_MOVE = re.compile(r"([1-9][0-9]{0,3})\. (\S.*)")
_SECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The content of a transcript.

    Attributes:
        game: the box.
        options: words such as ``-guesses=3``; size and number of atoms are in the ID.
        seconds: the seconds for which it was played.
        moves: all moves in order, including those that were taken back.
        done: the number of moves that count; the others were taken back.
    """

    game: GameId
    options: tuple[str, ...]
    seconds: int
    moves: tuple[str, ...]
    done: int


def write_transcript(transcript: Transcript) -> str:
    """Return the text of a transcript, which `read_transcript` reads."""
    moves = [f"{number}. {text}" for number, text in enumerate(transcript.moves, 1)]
    if transcript.done < len(moves):
        moves.insert(transcript.done, "undone:")
    head = (
        f"{FIRST_LINE} {VERSION}",
        "game: blackbox",
        *_box_lines(transcript.game),
        f"options: {' '.join(transcript.options)}".rstrip(),
        f"seconds: {transcript.seconds}",
        "",
    )
    return "\n".join((*head, *moves, "end")) + "\n"


def _box_lines(game: GameId) -> Iterator[str]:
    """Yield the lines of a box and its seed.

    A seed with blanks at its ends is written in digits, since a mail may lose the blanks.
    """
    seed = game.seed
    is_safe = seed is not None and is_plain(seed) and seed == seed.strip()
    if game.cells is None and seed is not None and seed.isprintable() and seed == seed.strip():
        yield f"box: {game.seeded}"
        return
    yield f"box: {described(game)}"
    if seed is not None:
        yield f"seed: {seed}" if is_safe else f"hexseed: {seed_digits(seed)}"


def read_transcript(text: str) -> Transcript:
    """Read a transcript. Its moves are not checked; see `practice.resumed`.

    Raises:
        NotUnderstood: a line is wrong, and the refusal has its number; 0 if a line is missing.
        OptionError: the game ID is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood("blackbox.transcript-long", length=len(text), most=MOST_CHARACTERS)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    _skip_to_first(lines)
    head = _read_head(lines)
    game = _with_seed(stored_id(head["box"][1]), head)
    line, seconds = head.get("seconds", (0, "0"))
    if not _SECONDS.fullmatch(seconds) or int(seconds) > MOST_SECONDS:
        _refuse("transcript-line", seconds, line)
    moves, done = _read_moves(lines)
    options = tuple(head.get("options", (0, ""))[1].split())
    return Transcript(game, options, int(seconds), tuple(moves), done)


def _with_seed(game: GameId, head: Mapping[str, tuple[int, str]]) -> GameId:
    """Return the box with the seed that the head names."""
    seed = head["seed"][1] if "seed" in head else game.seed
    if "hexseed" in head:
        line, digits = head["hexseed"]
        seed = seed_of_digits(digits)
        if seed is None:
            _refuse("transcript-line", digits, line)
    if seed == game.seed:
        return game
    return replace(game, cells=cells_of(game), seed=seed)


def _skip_to_first(lines: Iterator[tuple[int, str]]) -> None:
    """Read the lines up to the first one of the transcript."""
    for number, line in lines:
        if match := _FIRST.fullmatch(line):
            if int(match[1]) != VERSION:
                _refuse("transcript-version", match[1], number)
            return
    _refuse("transcript-none", FIRST_LINE, 0)


def _read_head(lines: Iterator[tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Return number and text of each field's line, by the name of the field."""
    head: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        if not line:
            break
        field = _FIELD.fullmatch(line)
        if field is None or field[1] in head:
            _refuse("transcript-line", line, number)
        head[field[1]] = (number, (field[2] or "").strip())
    for required in ("game", "box"):
        if not head.get(required, (0, ""))[1]:
            _refuse("transcript-missing", required, 0)
    line_number, game = head["game"]
    if game != "blackbox":
        _refuse("transcript-game", game, line_number)
    return head


def _read_moves(lines: Iterator[tuple[int, str]]) -> tuple[list[str], int]:
    """Return all moves, and the number of those that count."""
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
        move = _MOVE.fullmatch(line)
        if move is None or int(move[1]) != len(moves) + 1:
            _refuse("transcript-line", line, number)
        if len(moves) == MOST_MOVES:
            raise NotUnderstood("blackbox.transcript-moves", most=MOST_MOVES, line=number)
        moves.append(move[2])
    return _refuse("transcript-no-end", "end", 0)


def _refuse(code: str, part: str, line: int) -> NoReturn:
    raise NotUnderstood(f"blackbox.{code}", part=clipped(part), line=line, known=VERSION)
