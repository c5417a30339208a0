"""Reads and writes game files: transcripts of ours, and saved games of Simon Tatham's program."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pbmserv.cli.blackbox.refusals import Unusable, sentence
from pbmserv.errors import PlayerError
from pbmserv.files import read_octets

if TYPE_CHECKING:
    from pbmserv.games.blackbox.practice import Practice


class Unreadable(Unusable):
    """A file that cannot be read; the text names the file and the reason."""


class Unwritable(OSError):
    """A file that cannot be written; the text names the file and the reason."""


def write_game(file: Path, practice: Practice, seconds: int) -> None:
    """Write a game: for Simon Tatham's program if the name ends with ``.sav``, else a transcript.

    An existing file is replaced only when the new one is complete.

    Raises:
        Unwritable: the file cannot be written.
    """
    from pbmserv.games.blackbox.tatham_files import write_saved_game
    from pbmserv.games.blackbox.transcripts import write_transcript

    if file.suffix.lower() == ".sav":
        text = write_saved_game(practice)
    else:
        text = write_transcript(practice.transcript(seconds))
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise Unwritable(f"{file} cannot be written: {error.strerror or error}.") from None


def read_text(file: str) -> str:
    """Return the text of a file, or of standard input for ``-``.

    Raises:
        Unreadable: the file cannot be read or is not text.
    """
    from pbmserv.games.blackbox.transcripts import MOST_CHARACTERS

    try:
        if file == "-":
            return sys.stdin.read()
        # A transcript is ASCII, so a longer file is not one.
        return read_octets(Path(file), MOST_CHARACTERS + 1).decode()
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        name = "standard input" if file == "-" else file
        raise Unreadable(f"{name} is not text, so it is not a game.") from None


def read_game(file: Path) -> tuple[Practice, int]:
    """Return the game in a file and the seconds for which it was played.

    Raises:
        Unreadable: the file cannot be read or holds no game.
    """
    try:
        return parse_game(read_text(str(file)))
    except PlayerError as error:
        raise Unreadable(f"{file}: {sentence(error)}") from None


def parse_game(text: str) -> tuple[Practice, int]:
    """Return the game that the text of a file holds, and the seconds for which it was played.

    Raises:
        PlayerError: the text is neither a transcript nor a saved game of Simon Tatham's program.
    """
    from pbmserv.games.blackbox.practice import resumed
    from pbmserv.games.blackbox.tatham_files import MARK, read_saved_game
    from pbmserv.games.blackbox.transcripts import read_transcript

    if text.lstrip().startswith(MARK):
        return read_saved_game(text), 0
    transcript = read_transcript(text)
    return resumed(transcript), transcript.seconds
