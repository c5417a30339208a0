"""The command line ``pbmserv`` with all its commands, and ``serve``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from pbmserv import __version__
from pbmserv.cli import (
    announce,
    blackbox,
    boards,
    database,
    dkim,
    events,
    games,
    inbox,
    ladders,
    outbox,
    ratings,
    templates,
    users,
)
from pbmserv.cli.audit import audit
from pbmserv.cli.blocks import block, blocked, unblock
from pbmserv.cli.correspondence import mails
from pbmserv.cli.doctor import doctor
from pbmserv.cli.exit_codes import exit_code_of
from pbmserv.cli.operator_token import operator_token
from pbmserv.cli.output import say
from pbmserv.cli.read import read
from pbmserv.cli.replay import replay
from pbmserv.cli.reply_keys import retire_keys, rotate_keys
from pbmserv.cli.send import send
from pbmserv.cli.settings import ConfigFile, config
from pbmserv.cli.status import status
from pbmserv.cli.verify import verify


def serve(
    config: ConfigFile = None,
    without_mail: Annotated[
        bool, typer.Option("--without-mail", help="Start even if no mail can come in.")
    ] = False,
    only: Annotated[
        str,
        typer.Option(metavar="STAGES", help="Run only some of door,play,post,bots,web."),
    ] = "",
) -> None:
    """Run the server. Ctrl-C or SIGTERM stops it.

    Its stages can run apart: as systemd units, as containers, or on several
    hosts that share one PostgreSQL.

    Example: pbmserv serve --config /etc/pbmserv.toml
    Example: pbmserv serve --only play,post
    """
    # Wrong settings are reported before the server is imported, which takes longer.
    from pbmserv import log
    from pbmserv.config.settings import load
    from pbmserv.config.sources import early_log_format
    from pbmserv.stages import preflight, stage_names

    if early_log_format(os.environ, config) == "json":  # refusals of settings are lines, too
        log.configure("INFO", "json", forks=True)
    loaded = load(os.environ, config)
    stages = stage_names.stages_of(only)
    if "door" in stages and not without_mail:
        preflight.refuse_without_mail(loaded.settings)
    from pbmserv.serve import serve as run_stages

    raise typer.Exit(run_stages(loaded, stages))


# Plain tracebacks suit bug reports better than pretty ones with local variables.
app = typer.Typer(
    name="pbmserv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A play-by-email game server: challenge a friend, reply to the mail to move.",
    epilog="First steps: `pbmserv serve`, then in another window "
    "`pbmserv send --from you@localhost --subject help` and `pbmserv read you@localhost`. "
    "Operators can also work in a browser: `pbmserv operator-token --help`.",
)
app.command()(serve)
app.command()(send)
app.command()(read)
app.command()(replay)
app.command()(verify)
app.command()(config)
app.command()(status)
app.command()(doctor)
app.command()(mails)
app.command()(announce.announce)
app.command()(block)
app.command()(unblock)
app.command()(blocked)
app.command()(audit)
app.command()(operator_token)
app.command()(rotate_keys)
app.command()(retire_keys)
app.add_typer(database.app, name="db")
app.add_typer(announce.app, name="announcement")
app.add_typer(inbox.app, name="inbox")
app.add_typer(outbox.app, name="outbox")
app.add_typer(dkim.app, name="dkim")
app.add_typer(users.app, name="user")
app.add_typer(boards.app, name="board")
app.add_typer(games.app, name="game")
app.add_typer(ratings.app, name="rating")
app.add_typer(events.app, name="event")
app.add_typer(ladders.app, name="ladder")
app.add_typer(templates.app, name="templates")
app.add_typer(blackbox.app, name="blackbox")


def _version(wanted: bool) -> None:
    if wanted:
        say(f"pbmserv {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options before the command; `_version` has handled its own already."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code (see `exit_code_of`)."""

    def command() -> int:
        app(args=list(arguments), prog_name="pbmserv")
        return 0

    return exit_code_of(command)
