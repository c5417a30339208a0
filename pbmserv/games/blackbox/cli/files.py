"""Games in files: transcripts, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from pbmserv.errors import PlayerError
from pbmserv.files.regular import read_octets
from pbmserv.games.blackbox.cli.ending import sentence
from pbmserv.games.blackbox.practice import Practice, resumed
from pbmserv.games.blackbox.transcripts import (
    MOST_CHARACTERS,
    Transcript,
    read_transcript,
    write_transcript,
)

_MOST_OCTETS = MOST_CHARACTERS + 1
"""What is longer is no transcript, and a transcript is ASCII."""


class Unreadable(Exception):
    """A file that cannot be used; the text says which and why."""


def save(file: Path, transcript: Transcript) -> None:
    """Write a transcript; what stood in the file before is lost only when this is complete.

    Raises:
        Unreadable: it cannot be written.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            beside.write_text(write_transcript(transcript), encoding="utf-8")
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise Unreadable(f"{file} cannot be written: {error.strerror or error}.") from None


def load(file: Path) -> tuple[Practice, int]:
    """The game in a file, and for how many seconds it was played.

    Raises:
        Unreadable: it cannot be read, or is no transcript.
    """
    try:
        return parsed(read_octets(file, _MOST_OCTETS).decode())
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is no text, so no game.") from None
    except PlayerError as error:
        raise Unreadable(f"{file}: {sentence(error)}") from None


def parsed(text: str) -> tuple[Practice, int]:
    """The game of a transcript's text, and its seconds.

    Raises:
        PlayerError: it is none.
    """
    transcript = read_transcript(text)
    return resumed(transcript), transcript.seconds
