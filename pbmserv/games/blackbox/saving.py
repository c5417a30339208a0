"""Solo boards as transcripts, and transcripts as practice boards."""

from __future__ import annotations

import re
from collections.abc import Callable

from pbmserv.engine.protocol import Saved
from pbmserv.engine.record import RESTART, WITHDRAW
from pbmserv.games.blackbox import options as rules
from pbmserv.games.blackbox import racing
from pbmserv.games.blackbox.notation import gameids
from pbmserv.games.blackbox.notation.transcripts import (
    FIRST_LINE,
    Transcript,
    read_transcript,
    write_transcript,
)
from pbmserv.games.blackbox.options import Options

MARK = FIRST_LINE
SOLVE = "solve"
USUAL = 1
"""Guesses of a race where nothing is said; a transcript always says it."""

_BOX = re.compile(r"^(\s*box:\s*)board ([0-9]{1,9})\s*$", re.MULTILINE)


def save(options: Options, saved: Saved, board: int | None) -> str:
    """As `engine.protocol.Saving.save`."""
    words = ["-practice", f"-guesses={options.guesses}", "-fair"]
    words += ["-clue"] if options.clue else []
    moves = tuple(SOLVE if text == WITHDRAW else racing.unstamped(text)[0] for text in saved.moves)
    game = gameids.read_id(options.id)
    text = write_transcript(Transcript(game, tuple(words), 0, moves, saved.done))
    if board is None:
        return text
    return text.replace(f"box: {game.text}", f"box: board {board}", 1)


def load(text: str, options_of: Callable[[int], tuple[str, ...]]) -> Saved:
    """As `engine.protocol.Saving.load`."""

    def named(found: re.Match[str]) -> str:
        options = rules.read_options(options_of(int(found[2])), 1)
        return f"{found[1]}{options.id}"

    transcript = read_transcript(_BOX.sub(named, text, count=1))
    words = ["-race", "-practice", f"-id={gameids.described(transcript.game)}"]
    guesses = [word for word in transcript.options if word.startswith("-guesses=")]
    moves = tuple(
        WITHDRAW if move == SOLVE else RESTART if move == RESTART else move
        for move in transcript.moves
    )
    return Saved(
        (*words, *(word for word in guesses if word != f"-guesses={USUAL}")), moves, transcript.done
    )
