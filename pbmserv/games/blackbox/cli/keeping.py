"""``pbmserv blackbox save`` and ``load``: games in files, as transcripts."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import harmless, say
from pbmserv.games.blackbox.cli.boxes import Ids, every_box
from pbmserv.games.blackbox.cli.ending import Unusable, politely

if TYPE_CHECKING:
    from pbmserv.games.blackbox.practice import Practice


def save(
    prefix: Annotated[
        str, typer.Argument(metavar="PREFIX", help="Of the files: PREFIX0.txt, PREFIX1.txt …")
    ],
    ids: Ids = None,
    suffix: Annotated[
        str, typer.Option("--suffix", metavar="TEXT", help="What the files' names end with.")
    ] = ".txt",
    moves: Annotated[
        str,
        typer.Option("--moves", metavar="MOVES", help='Moves to make first: "A; 4,+b2; undo".'),
    ] = "",
) -> None:
    """Save games on these boxes in files, one each, to be played with `play FILE`.

    Files that exist are kept, and nothing is written then. A file holds all moves, those that
    were taken back included.

    Example: pbmserv blackbox generate 3 8x8/5 | pbmserv blackbox save game
    """
    with politely("save"):
        from pbmserv.games.blackbox.cli.files import Unreadable
        from pbmserv.games.blackbox.cli.files import save as write

        games = [_begun(box.game.text, moves) for box in every_box(ids)]
        files = [Path(f"{prefix}{number}{suffix}") for number in range(len(games))]
        for file in files:
            if file.exists():
                raise Unusable(f"{file} is there already, so nothing was written.")
        for file, game in zip(files, games, strict=True):
            try:
                write(file, game.transcript(0))
            except Unreadable as error:
                raise OSError(str(error)) from None
            say(str(file))


def load(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A saved game; - = standard input.")],
    solution: Annotated[bool, typer.Option("--solution", help="Open the box, too.")] = False,
) -> None:
    """Show a saved game: its box as it stands, and its moves.

    Example: pbmserv blackbox save game w8h8m5M5#tea && pbmserv blackbox load game0.txt
    """
    with politely("load"):
        from pbmserv.games.blackbox.cli.evidence import grid
        from pbmserv.games.blackbox.cli.files import Unreadable, parsed
        from pbmserv.games.blackbox.cli.files import load as read

        try:
            practice, seconds = parsed(sys.stdin.read()) if file == "-" else read(Path(file))
        except Unreadable as error:
            raise Unusable(str(error)) from None
        except UnicodeDecodeError:
            raise Unusable("what came is no text, so no game.") from None
        say(harmless(practice.game.text))
        say("")
        shown = practice.solve() if solution and not practice.over else practice
        say(grid(list(shown.view.boxes)))
        say("")
        for number, step in enumerate(practice.chain, 1):
            say(f"{number}. {step.text}{'' if number <= practice.done else ' (undone)'}")
        say(f"{practice.scoring}, {seconds} seconds")


def _begun(text: str, moves: str) -> Practice:
    """A practice game on the box of an ID, after these moves.

    Raises:
        PlayerError: one of them cannot be made.
    """
    from pbmserv.games.blackbox.game_ids import read_id
    from pbmserv.games.blackbox.practice import USUAL_GUESSES, Scoring, begin

    guesses = USUAL_GUESSES[Scoring.PRACTICE]
    game = begin(read_id(text), Scoring.PRACTICE, guesses, fair=True, clue=True)
    for move in filter(None, re.split(r"\s*;\s*", moves.strip())):
        if move in ("undo", "redo", "restart", "solve"):
            game = getattr(game, move)()
        else:
            game = game.play(move)
    return game
