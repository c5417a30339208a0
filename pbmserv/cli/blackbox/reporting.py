"""``pbmserv blackbox analyse``: the coach's report on a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.blackbox.arguments import AsFile, AsGame, names_a_file
from pbmserv.cli.blackbox.game_files import parse_game, read_text
from pbmserv.cli.blackbox.refusals import politely
from pbmserv.cli.blackbox.saving import game_on
from pbmserv.cli.output import say

if TYPE_CHECKING:
    from pbmserv.engine.types import Seat, Step
    from pbmserv.games.blackbox.practice import Practice
    from pbmserv.games.blackbox.state import State


def analyse(
    game: Annotated[
        str,
        typer.Argument(metavar="FILE|ID", help="A saved game, a record or a game ID; - = stdin."),
    ],
    moves: Annotated[
        str,
        typer.Option("--moves", metavar="MOVES", help='What was played on the ID: "A; 4,+b2; ?".'),
    ] = "",
    as_game: AsGame = False,
    as_file: AsFile = False,
) -> None:
    """Print the coach's report on a game: what each probe was worth.

    The file is a saved game of ours or of Simon Tatham's program, or the record of a board (reply
    "record" to its letter). A game that is not over counts as given up.

    Example: pbmserv blackbox analyse w7h7m4M4#tea --moves "D; 4; K; 10,+b2"
    """
    with politely("analyse"):
        from dataclasses import asdict

        from pbmserv.engine.types import Seat
        from pbmserv.games.blackbox.bots.coach import analyse as report
        from pbmserv.games.blackbox.game import GAME
        from pbmserv.views.texts import render_text

        is_file = game == "-" or names_a_file(game, as_game=as_game, as_file=as_file)
        if is_file:
            names, reader, steps = _played_in_file(read_text(game))
        else:
            names, reader, steps = _played_in_practice(game_on(game, moves))
        state = steps[-1].state
        for seat, box in enumerate(state.boxes):
            if box.atoms is not None:
                words = {
                    "r": asdict(report(steps, Seat(seat))),
                    "view": GAME.view(state, reader),
                    "names": names,
                    "you": reader,
                    "leads": False,
                    "spoken": False,
                }
                say(render_text("games/blackbox/report.txt.j2", words))
                say("")


Played = tuple[Sequence[str], "Seat | None", Sequence["Step[State]"]]
"""The names of a game's players, the seat that reads the report, and the game up to its end."""


def _played_in_file(text: str) -> Played:
    """Return the game that a file contains.

    Raises:
        PlayerError: the text is not a game, or one of its moves cannot be made.
    """
    from pbmserv.engine.position import opening, played_out
    from pbmserv.engine.record import FIRST_LINE, read_record
    from pbmserv.games.blackbox.game import GAME

    if FIRST_LINE not in text:
        return _played_in_practice(parse_game(text)[0])
    sheet = read_record(text)
    position = opening(GAME, sheet.record)
    for ply in sheet.record.plies:
        position = position.play(ply)
    return sheet.names, None, played_out(position)


def _played_in_practice(practice: Practice) -> Played:
    """Return a game of one player from its last restart on."""
    from pbmserv.engine.record import RESTART
    from pbmserv.games.blackbox.practice import PLAYER

    if not practice.over:
        practice = practice.solve()
    steps = practice.steps[: practice.done + 1]
    starts = [n for n, step in enumerate(steps) if step.public[PLAYER] in ("", RESTART)]
    return ["you"], PLAYER, steps[starts[-1] :]
