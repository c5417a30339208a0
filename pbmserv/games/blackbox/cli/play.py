"""``pbmserv blackbox play``: the full-screen game."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.games.blackbox.cli.arguments import Unusable, politely, presets
from pbmserv.games.blackbox.cli.boxes import fresh_seed
from pbmserv.games.blackbox.cli.saved_games import Unreadable, read_game

if TYPE_CHECKING:
    from pbmserv.games.blackbox.cli.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import GameId, Parameters
    from pbmserv.games.blackbox.practice import Practice


class How(StrEnum):
    """How a game is scored; the words of `practice.Scoring`, which is not loaded for `--help`."""

    PRACTICE = "practice"
    CLASSIC = "classic"
    TIMED = "timed"


def play(
    what: Annotated[
        str,
        typer.Argument(
            metavar="ID|PARAMS|FILE",
            help="A game ID, the kind of box you want, or a saved game.",
            autocompletion=presets,
        ),
    ] = "8x8/4",
    scoring: Annotated[
        How,
        typer.Option(
            "--scoring",
            help="classic: points for rays, one guess. timed: points for ports and seconds. "
            "practice: no score, and you can undo everything.",
        ),
    ] = How.PRACTICE,
    guesses: Annotated[
        int | None, typer.Option("--guesses", min=1, max=99, help="How many guesses you have.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Accept only the hidden cells, not others that look alike."),
    ] = False,
    no_clue: Annotated[
        bool, typer.Option("--no-clue", help="A wrong guess shows nothing.")
    ] = False,
) -> None:
    """Play in the terminal, with keys or mouse. Press h there for all keys.

    Example: pbmserv blackbox play 8x8/3-6 --scoring timed
    """
    with politely("play"):
        if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
            raise Unusable("this needs a terminal; show and check work without one.")

        from pbmserv.games.blackbox.practice import USUAL_GUESSES, Scoring, begin

        def rules(game: GameId) -> Practice:
            how = Scoring(scoring)
            allowed = guesses or USUAL_GUESSES[how]
            return begin(game, how, allowed, fair=not exact, clue=not no_clue)

        start = _start(what, rules)
        from pbmserv.games.blackbox.cli.terminal.application import Terminal

        Terminal(start, _fresh).run()


def _start(what: str, rules: Callable[[GameId], Practice]) -> Start:
    """The game that is meant: of an ID, of parameters, or in a file."""
    from pbmserv.games.blackbox.cli.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import read_id, read_parameters

    if Path(what).is_file():
        try:
            practice, seconds = read_game(Path(what))
        except Unreadable as error:
            raise Unusable(str(error)) from None
        return Start(practice, seconds, what)
    if re.search("[:#]", what):
        return Start(rules(read_id(what)))
    return Start(rules(_drawn(read_parameters(what))))


def _fresh(practice: Practice) -> Practice:
    """Another box, played by the same rules."""
    from pbmserv.games.blackbox.practice import begin

    options = practice.options
    return begin(
        _drawn(practice.game),
        practice.scoring,
        options.guesses,
        fair=options.fair,
        clue=options.clue,
    )


def _drawn(kind: Parameters) -> GameId:
    from pbmserv.games.blackbox.game_ids import read_id, seeded_id

    return read_id(seeded_id(kind, fresh_seed()))
