"""Compares the board and the events that a letter shows with those of the record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from pbmserv.engine.position import Position
from pbmserv.engine.record import Scoresheet
from pbmserv.engine.types import Seat
from pbmserv.verifying.findings import Wrong
from pbmserv.verifying.letters import Letter
from pbmserv.views.board import BoardScene, scene_of_sheet
from pbmserv.views.board_forms import board_text

_DRAWN = frozenset({"board", "result", "started"})
"""Kinds of letters that show the board as it is in the record."""

_SAME_BOARD = 0.6
"""Part of a board's lines that a letter must show, if only nearly, to be about that board. Then
each other line is a difference."""

_SAME_LINE = _SAME_EVENT = 0.75
"""Least similarity (`difflib`) of two lines of one board, or of two sentences about one event."""

_MOST_LIKE = 50
"""Most positions that are drawn for a letter: those that have its hash differ in private moves."""

_MOST_LINES = 500
"""Lines of a letter that are compared."""


def check_shown_board(
    letter: Letter, sheet: Scoresheet, positions: Sequence[Position], reader: int | None
) -> bool:
    """Compare a letter with the record; return whether the letter shows the board.

    Args:
        positions: those that have the letter's hash; the board that fits best is compared.
        reader: the seat of the letter's reader; `None` for a spectator.

    Raises:
        Wrong: the letter shows another board, or other events.
    """
    if letter.kind not in _DRAWN or len(letter.hashes) > 1 or len(positions) > _MOST_LIKE:
        return False
    seat = None if reader is None else Seat(reader)
    if seat is not None and seat >= sheet.record.seats:
        raise Wrong("no-seat", letter=letter)
    shut = [position.shut for position in positions if position.outcome is not None]
    drawn = [*positions, *shut]
    scenes = [scene_of_sheet(sheet, position, seat) for position in drawn]
    others = _names_not_in(letter, sheet.names, seat)
    is_shown = _check_board(letter, scenes, others)
    if not others:
        _check_events(letter, scenes, drawn, seat)
    return is_shown


def _check_board(letter: Letter, scenes: Sequence[BoardScene], others: Collection[str]) -> bool:
    """Return whether the letter shows a board; raise `Wrong` if it fits none of the scenes."""
    lines = [line.rstrip() for line in letter.text.splitlines()][:_MOST_LINES]
    compared = [_differences(_board_lines(scene), lines, others) for scene in scenes]
    shown = [differences for differences in compared if differences is not None]
    if shown and all(shown):
        ours, theirs = min(shown, key=len)[0]
        raise Wrong("wrong-board", letter=letter, ours=ours, theirs=theirs)
    return bool(shown)


def _check_events(
    letter: Letter,
    scenes: Sequence[BoardScene],
    positions: Sequence[Position],
    seat: Seat | None,
) -> None:
    """Compare the events of another player's move with the sentences of a letter about it."""
    text = " ".join(letter.text.split())
    events = [" ".join(event.split()) for event in text.split(" * ")]
    missing: list[str] = []
    for scene, position in zip(scenes, positions, strict=True):
        if position.ply is None or position.ply.seat == seat:
            return
        missing = [event for event in scene.events if " ".join(event.split()) not in text]
        if not missing:
            return
    for event in missing:
        if theirs := get_close_matches(event, events, 1, _SAME_EVENT):
            raise Wrong("wrong-board", letter=letter, ours=event, theirs=theirs[0])


def _board_lines(scene: BoardScene) -> list[str]:
    """Return the lines of the text board of a letter."""
    return [line.rstrip() for line in board_text(scene).splitlines() if line.strip()]


def _names_not_in(letter: Letter, names: Iterable[str], reader: Seat | None) -> list[str]:
    """Return the other players whom a letter does not name; one may have got the seat later."""
    text = f"{letter.subject}\n{letter.text}"
    return [name for seat, name in enumerate(names) if seat != reader and name not in text]


def _differences(
    board: list[str], lines: list[str], others: Collection[str]
) -> list[tuple[str, str]] | None:
    """Return the lines of a board that a letter lacks, each with the letter's line in its place.

    Return `None` if the letter does not show this board: it may have the form for listeners, or the
    name of a former player in place of one of the *others*.
    """
    if any(name in line for name in others for line in board):
        return None
    shown_lines = set(lines)
    missing = [line for line in board if line not in shown_lines]
    pairs = [(line, _nearest(line, lines)) for line in missing]
    shown = len(board) - sum(not theirs for _, theirs in pairs)
    return pairs if shown >= _SAME_BOARD * len(board) else None


def _nearest(line: str, lines: Iterable[str]) -> str:
    """Return the most similar line of a letter, ``""`` if none is similar."""
    return next(iter(get_close_matches(line, list(filter(None, lines)), 1, _SAME_LINE)), "")
