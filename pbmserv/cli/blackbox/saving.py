"""``pbmserv blackbox save`` and ``load``: games in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.blackbox.arguments import Ids, every_box
from pbmserv.cli.blackbox.box_to_show import grid
from pbmserv.cli.blackbox.game_files import (
    parse_game,
    read_game,
    read_text,
    write_game,
)
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.cli.output import say
from pbmserv.plurals import counted

if TYPE_CHECKING:
    from pbmserv.games.blackbox.practice import Practice


def save(
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="PREFIX", help="How the files' names begin: PREFIX0.txt, PREFIX1.txt …"
        ),
    ],
    ids: Ids = None,
    suffix: Annotated[
        str,
        typer.Option("--suffix", "--save-suffix", metavar="TEXT", help="How the files' names end."),
    ] = ".txt",
    moves: Annotated[
        str,
        typer.Option("--moves", metavar="MOVES", help='Moves to make first: "A; 4,+b2; undo".'),
    ] = "",
) -> None:
    """Save games on these boxes, one file each; `play FILE` goes on with one.

    If one of the files exists, it writes nothing. A file holds all moves, even
    those you took back. Simon Tatham's Black Box loads them with --suffix .sav.

    Example: pbmserv blackbox generate 3 8x8/5 | pbmserv blackbox save game
    """
    with politely("save"):
        games = [game_on(box.game.text, moves) for box in every_box(ids)]
        files = [Path(f"{prefix}{number}{suffix}") for number in range(len(games))]
        for file in files:
            if file.exists():
                raise Unusable(f"{file} exists already, so nothing was saved.")
        for file, game in zip(files, games, strict=True):
            write_game(file, game, 0)
            say(str(file))


def load(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A saved game; - = standard input.")],
    solution: Annotated[bool, typer.Option("--solution", help="Also show the atoms.")] = False,
) -> None:
    """Show a saved game: its box as it stands, and its moves.

    Example: pbmserv blackbox save game w8h8m5M5#tea && pbmserv blackbox load game0.txt
    """
    with politely("load"):
        is_input = file == "-"
        practice, seconds = parse_game(read_text(file)) if is_input else read_game(Path(file))
        say(practice.game.text)
        say("")
        shown = practice.solve() if solution and not practice.over else practice
        say(grid(list(shown.view.boxes)))
        say("")
        for number, text in enumerate(practice.texts, 1):
            say(f"{number}. {text}{'' if number <= practice.done else ' (undone)'}")
        say(f"{practice.scoring}, {counted(seconds, 'second')}")


def game_on(game_id: str, moves: str) -> Practice:
    """Return a practice game on the box of an ID, after moves such as "A; 4,+b2; undo".

    Raises:
        PlayerError: the ID is wrong, or a move cannot be made.
    """
    from pbmserv.games.blackbox.game_ids import read_id
    from pbmserv.games.blackbox.options import Scoring
    from pbmserv.games.blackbox.practice import USUAL_GUESSES, begin

    guesses = USUAL_GUESSES[Scoring.PRACTICE]
    game = begin(read_id(game_id), Scoring.PRACTICE, guesses, fair=True, clue=True)
    for move in filter(None, map(str.strip, moves.split(";"))):
        if move in ("undo", "redo", "restart", "solve", "hint"):
            game = getattr(game, move)()
        else:
            game = game.play(move)
    return game
