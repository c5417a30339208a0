"""``pbmserv serve``: the server itself."""

from __future__ import annotations

import typer

from pbmserv.cli.settings import ConfigFile, loaded


def serve(config: ConfigFile = None) -> None:
    """Run the server until it is told to stop (Ctrl-C or SIGTERM).

    Example: pbmserv serve --config /etc/pbmserv.toml
    """
    settings = loaded(config)  # a wrong setting is told before the parts are even imported
    from pbmserv.app import serve as run

    raise typer.Exit(run(settings))
