"""Ends the commands with one line about wrong input, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from pbmserv.cli.output import complain
from pbmserv.errors import PlayerError

WRONG = 2
STOPPED = 130
READER_LEFT = 141


class Unusable(Exception):
    """Input that cannot be used; the text is the line to print."""


@contextmanager
def politely(command: str) -> Iterator[None]:
    """Turn errors into one line on stderr and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except PlayerError as error:
        raise _exit_with(command, sentence(error)) from None
    except Unusable as error:
        raise _exit_with(command, str(error)) from None
    except BrokenPipeError:
        # Discard the rest of the buffer, or Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_LEFT) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"pbmserv blackbox {command}: {place}{error.strerror or error}")
        raise typer.Exit(1) from None


@contextmanager
def at_line(number: int) -> Iterator[None]:
    """Name a line of standard input in the errors of a block."""
    try:
        yield
    except PlayerError as error:
        raise Unusable(f"line {number}: {sentence(error)}") from None
    except Unusable as error:
        raise Unusable(f"line {number}: {error}") from None


def sentence(error: PlayerError) -> str:
    """Return the sentence of a refusal with its example."""
    from pbmserv.views.texts import refusal_sentence

    example = error.refusal.example
    return refusal_sentence(error.refusal) + (f" Example: {example}" if example else "")


def _exit_with(command: str, reason: str) -> typer.Exit:
    complain(f"pbmserv blackbox {command}: {reason}".replace("\n", " "))
    return typer.Exit(WRONG)
