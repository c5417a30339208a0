"""``pbmserv announce`` and ``announcement``: write to all players, stop that, and go on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.orders import IN_A_BROWSER, LARGEST, AuditWhy, By, Most, give_order, look
from pbmserv.cli.output import failure, table
from pbmserv.cli.settings import ConfigFile
from pbmserv.files import read_octets

app = typer.Typer(help="Announcements to all players.", epilog=IN_A_BROWSER, no_args_is_help=True)

Number: TypeAlias = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, max=LARGEST, help="As `announcement list` shows.")
]


def announce(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Its first line is the subject; the text follows."),
    ],
    why: AuditWhy,
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
    must know. Announcing the same file again tells how far it has come, and
    `pbmserv announcement stop` stops it.

    Example: pbmserv announce move.txt --service --why "we move on Sunday"
    """
    from pbmserv.service.operators import announcements

    try:
        title, _, text = read_octets(file).decode("utf-8-sig").partition("\n")
    except OSError as error:
        raise failure(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise failure(f"{file} is not a text in UTF-8.") from None
    give_order(
        config,
        by,
        why,
        announcements.announce,
        title,
        text.replace("\r\n", "\n"),
        is_service=service,
    )


@app.command("list")
def list_(most: Most = 20, config: ConfigFile = None) -> None:
    """List announcements, newest first. Example: pbmserv announcement list"""
    from pbmserv.service.operators.announcements import listed, progress

    rows = look(config, partial(listed, most=most))
    table(
        ("number", "when (UTC)", "letters", "progress", "subject"),
        [
            (
                str(row.id),
                f"{row.created_at:%Y-%m-%d %H:%M}",
                str(row.sent),
                progress(row),
                row.title,
            )
            for row in rows
        ],
        fixed=4,
        empty="Nothing was announced.",
    )


@app.command()
def stop(announcement: Number, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Stop an announcement.

    No more letters go out: those that wait are held. Letters that are sent stay
    sent. `pbmserv announcement resume` goes on.

    Example: pbmserv announcement stop 3 --why "wrong day"
    """
    from pbmserv.service.operators import announcements

    give_order(config, by, why, announcements.stop, announcement)


@app.command()
def resume(announcement: Number, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Let a stopped announcement go on where it was stopped; nobody gets it twice.

    Example: pbmserv announcement resume 3 --why "the day was right"
    """
    from pbmserv.service.operators import announcements

    give_order(config, by, why, announcements.resume, announcement)
