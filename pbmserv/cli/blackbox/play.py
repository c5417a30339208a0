"""``pbmserv blackbox play``: the full-screen game."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.blackbox.arguments import AsFile, AsGame, is_game_id, names_a_file, presets
from pbmserv.cli.blackbox.boxes import fresh_seed
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.extras import require
from pbmserv.games.blackbox.options import Scoring

if TYPE_CHECKING:
    from pbmserv.cli.blackbox.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import GameId, Parameters
    from pbmserv.games.blackbox.practice import Practice


def play(
    game: Annotated[
        str,
        typer.Argument(
            metavar="ID|PARAMS|FILE",
            help="A game ID, the kind of box you want, or a saved game.",
            autocompletion=presets,
        ),
    ] = "8x8/4",
    scoring: Annotated[
        Scoring,
        typer.Option(
            "--scoring",
            help="classic: points for rays, one guess. timed: points for ports and seconds. "
            "practice: no score, and you can undo everything.",
        ),
    ] = Scoring.PRACTICE,
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
    hide: Annotated[
        bool,
        typer.Option("--hide", help="You hide the atoms by hand, and somebody else plays."),
    ] = False,
    as_game: AsGame = False,
    as_file: AsFile = False,
) -> None:
    """Play in the terminal, with keys or mouse. Press h there for all keys, t for a
    hint.

    Example: pbmserv blackbox play 8x8/3-6 --scoring timed
    """
    with politely("play"):
        if hide and (as_game or as_file or Path(game).is_file() or is_game_id(game)):
            raise Unusable("--hide needs a kind of box, such as 8x8/4, not a box or a game.")
        require("textual")
        from pbmserv.games.blackbox.practice import USUAL_GUESSES, begin

        def begin_game(box: GameId) -> Practice:
            most = guesses or USUAL_GUESSES[scoring]
            return begin(box, scoring, most, fair=not exact, clue=not no_clue)

        start = _start(game, begin_game, as_game=as_game, as_file=as_file)
        if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
            raise Unusable("this needs a terminal; show and check work without one.")

        from pbmserv.cli.blackbox.terminal.application import Terminal

        Terminal(start, _another_game, by_hand=hide).run()


def _start(
    text: str, begin_game: Callable[[GameId], Practice], *, as_game: bool, as_file: bool
) -> Start:
    """Return the game of an ID, of parameters or in a file.

    Raises:
        Unusable: the file cannot be read.
        PlayerError: the ID or the parameters are wrong.
    """
    from pbmserv.cli.blackbox.game_files import read_game
    from pbmserv.cli.blackbox.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import read_id, read_parameters

    if names_a_file(text, as_game=as_game, as_file=as_file):
        practice, seconds = read_game(Path(text))
        return Start(practice, seconds, text)
    if is_game_id(text):
        return Start(begin_game(read_id(text)))
    return Start(begin_game(_random_box(read_parameters(text))))


def _another_game(practice: Practice) -> Practice:
    """Return a game on another box with the same rules."""
    from pbmserv.games.blackbox.practice import begin_alike

    return begin_alike(_random_box(practice.game), practice)


def _random_box(kind: Parameters) -> GameId:
    from pbmserv.games.blackbox.game_ids import read_id, seeded_id

    return read_id(seeded_id(kind, fresh_seed()))
