"""How a ``pbmserv blackbox`` command ends: kindly when input is wrong, quietly when stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from pbmserv.cli.output import complain, harmless
from pbmserv.errors import PlayerError

WRONG = 2
STOPPED = 130
READER_LEFT = 141


class Unusable(Exception):
    """Input that cannot be used; the text is the line that is said about it."""


@contextmanager
def politely(command: str) -> Iterator[None]:
    """Say what was wrong in one line on stderr, and leave with the right exit code."""
    try:
        yield
        sys.stdout.flush()
    except PlayerError as error:
        raise _over(command, sentence(error)) from None
    except Unusable as error:
        raise _over(command, str(error)) from None
    except BrokenPipeError:
        # What is still in the buffer must go nowhere, or Python complains when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_LEFT) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(harmless(f"pbmserv blackbox {command}: {place}{error.strerror or error}"))
        raise typer.Exit(1) from None


def sentence(error: PlayerError) -> str:
    """The sentence of a refusal, and its example."""
    from pbmserv.letters.scene import why

    example = error.refusal.example
    return why(error.refusal) + (f" Example: {example}" if example else "")


def _over(command: str, reason: str) -> typer.Exit:
    complain(harmless(f"pbmserv blackbox {command}: {reason}".replace("\n", " ")))
    return typer.Exit(WRONG)
