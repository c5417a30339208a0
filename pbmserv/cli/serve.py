"""``pbmserv serve``: the server itself."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.stages import preflight


def serve(
    config: ConfigFile = None,
    without_mail: Annotated[
        bool, typer.Option("--without-mail", help="Start although no mail can come in.")
    ] = False,
    only: Annotated[
        str,
        typer.Option(metavar="STAGES", help="Run only these of door,play,post,bots,web."),
    ] = "",
) -> None:
    """Run the server until it is told to stop (Ctrl-C or SIGTERM).

    Stages can run apart: as units of systemd, as containers, and over one PostgreSQL on several
    hosts.

    Example: pbmserv serve --config /etc/pbmserv.toml
    Example: pbmserv serve --only play,post
    """
    found = loaded(config)  # a wrong setting is told before the parts are even imported
    stages = preflight.stages_of(only)
    if "door" in stages and not without_mail:
        preflight.must_take_mail(found.settings)
    from pbmserv.serve import serve as run

    raise typer.Exit(run(found, stages))
