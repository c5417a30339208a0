"""``pbmserv announce``: write to all players."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pbmserv.cli.orders import By, carry_out
from pbmserv.cli.output import failure
from pbmserv.cli.settings import ConfigFile

LONGEST_FILE = 100_000
"""Octets."""


def announce(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Its first line is the subject; the text follows."),
    ],
    why: Annotated[str, typer.Option("--why", help="Your reason, which the audit keeps.")],
    service: Annotated[
        bool,
        typer.Option(
            "--service",
            help="A notice about the service: also to players who want no announcements.",
        ),
    ] = False,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Write to all active players, once each, three letters a second.

    The server sends the letters, and goes on after a restart. Players end
    announcements by `prefs announce=off`; use --service only for what everybody
    must know. Announcing the same file again tells how far it has come.

    Example: pbmserv announce move.txt --service --why "we move on Sunday"
    """
    from pbmserv.service.operators import orders

    try:
        with file.open("rb") as source:
            raw = source.read(LONGEST_FILE + 1)
        title, _, text = raw.decode("utf-8-sig").partition("\n")
    except OSError as error:
        raise failure(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise failure(f"{file} is not a text in UTF-8.") from None
    if len(raw) > LONGEST_FILE:
        raise failure(f"{file} is larger than {LONGEST_FILE:,} octets.")
    carry_out(config, by, why, orders.Announce(title, text.replace("\r\n", "\n"), service))
