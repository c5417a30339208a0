"""Checks of a board's record by itself: its drawn seats, its moves by the rules, and its result."""

from __future__ import annotations

from typing import Any

from pbmserv.commands.reserved_userids import NEUTRAL
from pbmserv.engine.chance import drawn_sides
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import JOIN, Scoresheet, result_of
from pbmserv.mail import reading_time
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.verifying.findings import Wrong

MOST_WORK = 20_000
"""Work of a record that is replayed (`engine.position.work_of`): far more than a server allows."""


def mark_of_sides(sheet: Scoresheet) -> str:
    """Return the mark of the mail that found opponents, ``""`` if none is mixed into the sides."""
    first = next(iter(sheet.record.plies), None)
    return first.mark if sheet.sides_drawn and first is not None and first.text == JOIN else ""


def check_sides(sheet: Scoresheet) -> bool:
    """Draw the seats again; return whether that was possible.

    It is not if the players chose them, or if a deleted player has a neutral name by now.

    Raises:
        Wrong: the record has the players at other seats.
    """
    if not sheet.sides_drawn or any(name.startswith(NEUTRAL) for name in sheet.names):
        return False
    drawn = drawn_sides(sheet.record.seed, sheet.names, mark_of_sides(sheet))
    if tuple(drawn) != sheet.names:
        raise Wrong("wrong-sides", drawn=" - ".join(drawn))
    return True


def replay(game: Any, sheet: Scoresheet, board: int) -> list[Position]:
    """Return all positions of the record, the start first.

    Raises:
        Wrong: a move is against the rules, or there are too many.
    """
    number, name, text = 0, "", ""
    try:
        position = opening(game, sheet.record)
        positions = [position]
        for ply in sheet.record.plies:
            reading_time.check()
            number, name, text = ply.number, sheet.names[ply.seat], ply.text
            position = position.play(ply)
            positions.append(position)
            if position.work > MOST_WORK:
                raise Wrong("too-long", board=board)
    except (Wrong, ReadingTooLong):
        raise
    except Exception as error:  # rules of games may raise anything at records of strangers
        raise Wrong("impossible", number=number, name=name, text=text[:60]) from error
    return positions


def check_result(sheet: Scoresheet, last: Position) -> None:
    """Compare the result in the record with that of its last position."""
    outcome = last.outcome
    if outcome is None:
        raise Wrong("unfinished")
    result = result_of(sheet.names, outcome.places, outcome.reason)
    if sheet.result != result:
        raise Wrong("wrong-result", shown=sheet.result, result=result)
