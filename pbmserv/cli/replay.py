"""``pbmserv replay``: plays a finished game back from its record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import complain, failure, say
from pbmserv.files import read_octets

if TYPE_CHECKING:
    from pbmserv.engine.position import Position
    from pbmserv.engine.record import Scoresheet

_WRONG = {
    "record.none": 'there is no line "pbmserv record 1" in it',
    "record.version": "this program does not know its version",
    "record.missing": "its head does not give the {part}",
    "record.players": "a player is in it twice",
    "record.number": "a number in its head is wrong",
    "record.line": "line {line} makes no sense: {part}",
    "record.no-end": 'it does not end with "end", so something is missing',
}


def replay(
    file: Annotated[str, typer.Argument(help="The text from `record BOARD`; - = standard input.")],
    seen_by: Annotated[
        str | None,
        typer.Option("--as", metavar="USERID", help="Show it through this player's eyes."),
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="Print only the board at the end.")] = False,
) -> None:
    """Play a finished game back and print the board after every turn.

    Without --as you see what spectators saw at the time; the last board shows
    everything. It fails if the result is not that of the record: then the
    rules have changed.

    Example: pbmserv replay game.txt --as alice
    """
    from pbmserv.engine.position import opening
    from pbmserv.engine.record import read_record, result_of
    from pbmserv.engine.registry import Registry
    from pbmserv.errors import PlayerError, ServerFault

    try:
        sheet = read_record(_text(file))
        game = Registry.installed().version(sheet.record.game, sheet.record.rules_version)
        position = opening(game, sheet.record)
        positions = [position := position.play(ply) for ply in sheet.record.plies]
    except (PlayerError, ServerFault, ValueError, OSError) as error:
        raise failure(f"cannot play {file} back: {_why(error)}") from None
    if seen_by is not None and seen_by not in sheet.names:
        raise failure(f"{seen_by} does not play in it; these do: {', '.join(sheet.names)}.")
    seat = None if seen_by is None else sheet.names.index(seen_by)
    turns = [
        after for after in positions if after is position or (after.ply and not after.ply.free)
    ]
    for after in (turns[-1:] if last else turns) or [position]:
        say(_board(sheet, after, seat))
    outcome = position.outcome
    if outcome is None:
        complain("The record ends before the game does.")
        return
    result = result_of(sheet.names, outcome.places, outcome.reason)
    if sheet.result not in {"", result}:
        raise failure(
            f"The record says {sheet.result}, but by the rules installed here it is {result}."
        )


def _board(sheet: Scoresheet, position: Position, seat: int | None) -> str:
    """Return the events of a turn, and the board after it, as text."""
    from pbmserv.engine.types import Seat
    from pbmserv.views.board import scene_of_sheet
    from pbmserv.views.board_forms import board_text
    from pbmserv.views.texts import render_text

    scene = scene_of_sheet(sheet, position, None if seat is None else Seat(seat))
    values = {
        "scene": scene,
        "view": scene.view,
        "names": scene.names,
        "you": scene.you,
        "board": scene.number,
        "words": {"undecided": []},
    }
    board = board_text(scene)
    title = render_text("letters/pieces/status.j2", values) if scene.outcome else ""
    head = f"{position.number}. {title}".rstrip()
    events = [f"* {event}" for event in (*scene.events, *scene.scores)]
    return "\n".join([head, *events, "", board, ""])


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read().decode()
    return read_octets(Path(file)).decode()


def _why(error: Exception) -> str:
    from pbmserv.errors import PlayerError

    if isinstance(error, PlayerError):
        refusal = error.refusal
        sentence = _WRONG.get(refusal.code, "a move in it breaks the rules")
        return sentence.format(part=refusal.part, **refusal.values) + "."
    if isinstance(error, UnicodeDecodeError):
        return "it is not text."
    if isinstance(error, OSError):
        return f"{error.strerror or error}."
    return f"{error}."
