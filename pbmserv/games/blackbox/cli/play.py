"""``pbmserv blackbox play``: the full-screen game; ``save`` and ``load``: games in files, as
transcripts, whole or not at all.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import harmless, say
from pbmserv.errors import PlayerError
from pbmserv.extras import require
from pbmserv.files import read_octets
from pbmserv.games.blackbox.cli.arguments import (
    AsFile,
    AsGame,
    Ids,
    Unusable,
    every_box,
    grid,
    names_a_file,
    politely,
    presets,
    sentence,
)
from pbmserv.games.blackbox.cli.boxes import fresh_seed

if TYPE_CHECKING:
    from pbmserv.engine.types import Seat, Step
    from pbmserv.games.blackbox.cli.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import GameId, Parameters
    from pbmserv.games.blackbox.practice import Practice
    from pbmserv.games.blackbox.state import State


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
        if hide and (as_game or as_file or Path(what).is_file() or re.search("[:#]", what)):
            raise Unusable("--hide needs a kind of box, such as 8x8/4, not a box or a game.")
        require("textual")
        from pbmserv.games.blackbox.practice import USUAL_GUESSES, Scoring, begin

        def rules(game: GameId) -> Practice:
            how = Scoring(scoring)
            allowed = guesses or USUAL_GUESSES[how]
            return begin(game, how, allowed, fair=not exact, clue=not no_clue)

        start = _start(what, rules, as_game=as_game, as_file=as_file)
        if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
            raise Unusable("this needs a terminal; show and check work without one.")

        from pbmserv.games.blackbox.cli.terminal.application import Terminal

        Terminal(start, _fresh, by_hand=hide).run()


def _start(
    what: str, rules: Callable[[GameId], Practice], *, as_game: bool, as_file: bool
) -> Start:
    """The game that is meant: of an ID, of parameters, or in a file."""
    from pbmserv.games.blackbox.cli.terminal.application import Start
    from pbmserv.games.blackbox.game_ids import read_id, read_parameters

    if names_a_file(what, as_game=as_game, as_file=as_file):
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
        games = [_begun(box.game.text, moves) for box in every_box(ids)]
        files = [Path(f"{prefix}{number}{suffix}") for number in range(len(games))]
        for file in files:
            if file.exists():
                raise Unusable(f"{file} exists already, so nothing was saved.")
        for file, game in zip(files, games, strict=True):
            try:
                write_game(file, game, 0)
            except Unreadable as error:
                raise OSError(str(error)) from None
            say(str(file))


def load(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A saved game; - = standard input.")],
    solution: Annotated[bool, typer.Option("--solution", help="Also show the atoms.")] = False,
) -> None:
    """Show a saved game: its box as it stands, and its moves.

    Example: pbmserv blackbox save game w8h8m5M5#tea && pbmserv blackbox load game0.txt
    """
    with politely("load"):
        try:
            practice, seconds = parsed(sys.stdin.read()) if file == "-" else read_game(Path(file))
        except Unreadable as error:
            raise Unusable(str(error)) from None
        except UnicodeDecodeError:
            raise Unusable("that is not text, so it is not a game.") from None
        say(harmless(practice.game.text))
        say("")
        shown = practice.solve() if solution and not practice.over else practice
        say(grid(list(shown.view.boxes)))
        say("")
        for number, step in enumerate(practice.chain, 1):
            say(f"{number}. {step.text}{'' if number <= practice.done else ' (undone)'}")
        say(f"{practice.scoring}, {seconds} seconds")


def analyse(
    what: Annotated[
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

        is_file = what == "-" or names_a_file(what, as_game=as_game, as_file=as_file)
        names, reader, steps = _finished(_text(what) if is_file else "", what, moves)
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


def _finished(
    text: str, what: str, moves: str
) -> tuple[Sequence[str], Seat | None, Sequence[Step[State]]]:
    """The players of a game, which of them reads this, and the game played to its end.

    Args:
        text: of a file; "" where *what* is a game ID.

    Raises:
        Unusable: it is no game.
        PlayerError: one of the moves cannot be made.
    """
    from pbmserv.engine.position import opening, played_out
    from pbmserv.engine.record import FIRST_LINE, RESTART, read_record
    from pbmserv.engine.types import Seat, Step
    from pbmserv.games.blackbox.game import GAME

    if FIRST_LINE in text:
        sheet = read_record(text)
        position = opening(GAME, sheet.record)
        for ply in sheet.record.plies:
            position = position.play(ply)
        return sheet.names, None, played_out(position)
    practice = parsed(text)[0] if text else _begun(what, moves)
    if not practice.over:
        practice = practice.solve()
    standing = [Step(practice.start, {None: ""})]
    for one in practice.chain[: practice.done]:
        if one.text == RESTART:
            standing.clear()
        standing.append(Step(one.state, {None: ""}, one.notes))
    return ["you"], Seat(0), standing


def _text(what: str) -> str:
    """The text of a file.

    Raises:
        Unusable: it cannot be read, or is no text.
    """
    from pbmserv.games.blackbox.practice import MOST_CHARACTERS

    try:
        if what == "-":
            return sys.stdin.read()
        return read_octets(Path(what), MOST_CHARACTERS + 1).decode()
    except OSError as error:
        raise Unusable(f"{what} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise Unusable("that is not text, so it is not a game.") from None


def _begun(text: str, moves: str) -> Practice:
    """A practice game on the box of an ID, after these moves.

    Raises:
        PlayerError: one of them cannot be made.
    """
    from pbmserv.games.blackbox.game_ids import read_id
    from pbmserv.games.blackbox.practice import USUAL_GUESSES, Scoring, begin

    guesses = USUAL_GUESSES[Scoring.PRACTICE]
    game = begin(read_id(text), Scoring.PRACTICE, guesses, fair=True, clue=True)
    for move in filter(None, map(str.strip, moves.split(";"))):
        if move in ("undo", "redo", "restart", "solve", "hint"):
            game = getattr(game, move)()
        else:
            game = game.play(move)
    return game


class Unreadable(Exception):
    """A file that cannot be used; the text says which and why."""


def write_game(file: Path, practice: Practice, seconds: int) -> None:
    """Write a transcript, or what Simon Tatham's program loads if the name ends with ``.sav``.

    What stood in the file before is lost only when this is complete.

    Raises:
        Unreadable: it cannot be written.
    """
    from pbmserv.games.blackbox.practice import write_transcript
    from pbmserv.games.blackbox.sgt_files import write_saved_game

    his = file.suffix.lower() == ".sav"
    text = write_saved_game(practice) if his else write_transcript(practice.transcript(seconds))
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise Unreadable(f"{file} cannot be written: {error.strerror or error}.") from None


def read_game(file: Path) -> tuple[Practice, int]:
    """The game in a file, and for how many seconds it was played.

    Raises:
        Unreadable: it cannot be read, or is no transcript.
    """
    from pbmserv.games.blackbox.practice import MOST_CHARACTERS

    try:
        # A transcript is ASCII, so what has more octets than that is none.
        return parsed(read_octets(file, MOST_CHARACTERS + 1).decode())
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is not text, so it is not a game.") from None
    except PlayerError as error:
        raise Unreadable(f"{file}: {sentence(error)}") from None


def parsed(text: str) -> tuple[Practice, int]:
    """The game of a transcript's text, or of a file of Simon Tatham's program, and its seconds.

    Raises:
        PlayerError: it is neither.
    """
    from pbmserv.games.blackbox.practice import read_transcript, resumed
    from pbmserv.games.blackbox.sgt_files import MARK, read_saved_game

    if text.lstrip().startswith(MARK):
        return read_saved_game(text), 0
    transcript = read_transcript(text)
    return resumed(transcript), transcript.seconds
