"""Saves practice boards in files, and loads them.

A file is a transcript of ours, or a saved game of Simon Tatham's program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import FORFEIT, WITHDRAW
from pbmserv.engine.types import Saved
from pbmserv.errors import MoveError
from pbmserv.games.blackbox.game_ids import (
    SEED_LIMIT,
    GameId,
    cells_of,
    described,
    drawn_cells,
    stored_id,
)
from pbmserv.games.blackbox.options import ENDLESS, Options, read_options
from pbmserv.games.blackbox.practice import SOLVE, option_words, resumed
from pbmserv.games.blackbox.racing import unstamped
from pbmserv.games.blackbox.tatham_files import MARK, read_saved_game, write_saved_game
from pbmserv.games.blackbox.transcripts import (
    FIRST_LINE,
    Transcript,
    read_transcript,
    write_transcript,
)

MARKS = (FIRST_LINE, MARK)
"""The beginnings of both kinds of files."""

_BOX = re.compile(r"^([^\S\n]*box:[^\S\n]*)board ([0-9]{1,9})[^\S\n]*$", re.MULTILINE)
_GIVEN_UP = dict.fromkeys((WITHDRAW, FORFEIT), SOLVE)


def save(
    options: Options, saved: Saved, board: int | None, spend: Spend
) -> tuple[tuple[str, str], ...]:
    """Return a transcript and, if it may tell the box, a file of Simon Tatham's program."""
    guesses = options.guesses if options.practice else ENDLESS
    words = option_words(replace(options, practice=True, guesses=guesses, fair=True))
    moves = tuple(_GIVEN_UP.get(text) or unstamped(text)[0] for text in saved.moves)
    game = replace(stored_id(options.id), seed=options.seed or None)
    if board is not None:
        game = replace(game, seed=None)
    transcript = Transcript(game, words, 0, moves, saved.done)
    text = write_transcript(transcript)
    if board is not None:
        return ((".txt", text.replace(f"box: {game.text}", f"box: board {board}", 1)),)
    flags = tuple(word for word in words if not word.startswith("-guesses="))
    try:
        played = resumed(replace(transcript, options=flags), spend)
    except MoveError:  # a record of thousands of moves
        return ((".txt", text),)
    return ((".txt", text), (".sav", write_saved_game(played)))


def load(text: str, options_of: Callable[[int], tuple[str, ...]], spend: Spend) -> Saved:
    """Read a transcript or a file of Simon Tatham's program."""

    def with_id(line: re.Match[str]) -> str:
        options = read_options(options_of(int(line[2])), 1)
        return f"{line[1]}{options.id}"

    if FIRST_LINE in text:
        transcript = read_transcript(_BOX.sub(with_id, text, count=1))
    else:
        transcript = read_saved_game(text, spend).transcript(0)
    game = transcript.game
    words = ["-race", "-practice", f"-id={described(game)}"]
    if _fits_seed_option(game):
        words.append(f"-seed={game.seed}")
    words += [word for word in transcript.options if word.startswith("-guesses=")]
    moves = tuple(WITHDRAW if move == SOLVE else move for move in transcript.moves)
    return Saved(tuple(words), moves, transcript.done)


def _fits_seed_option(game: GameId) -> bool:
    """Return whether the seed of a game can be an option, and its box is drawn from the seed."""
    seed = game.seed or ""
    if not seed or len(seed) > SEED_LIMIT or len(seed.split()) != 1 or not seed.isprintable():
        return False
    return drawn_cells(game, seed) == cells_of(game)
