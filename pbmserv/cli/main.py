"""The command line's table of contents, ``pbmserv serve``, and how it ends when something is
wrong."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pbmserv import __version__
from pbmserv.cli import boards, database, queues, users
from pbmserv.cli.audit import audit
from pbmserv.cli.boards import replay
from pbmserv.cli.database import status
from pbmserv.cli.mail import read, send
from pbmserv.cli.output import complain, say
from pbmserv.cli.settings import ConfigFile, config, dkim, loaded, operator_token
from pbmserv.errors import ConfigError, OperatorError, ServerFault
from pbmserv.games.blackbox import cli as blackbox
from pbmserv.stages import preflight


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
    found = loaded(config)  # a wrong setting is told before the parts are even imported
    stages = preflight.stages_of(only)
    if "door" in stages and not without_mail:
        preflight.must_take_mail(found.settings)
    from pbmserv.serve import serve as run

    raise typer.Exit(run(found, stages))


# Pretty tracebacks print local variables' neighbourhood; plain ones are fit for a bug report.
app = typer.Typer(
    name="pbmserv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A play-by-email game server: challenge a friend, reply to the mail to move.",
    epilog="First steps: `pbmserv serve`, then in another window "
    "`pbmserv send --from you@localhost --subject help` and `pbmserv read you@localhost`. "
    "What operators do here they can do in a browser, too: `pbmserv operator-token --help`.",
)
app.command()(serve)
app.command()(send)
app.command()(read)
app.command()(replay)
app.command()(config)
app.command()(status)
app.command()(audit)
app.command()(operator_token)
app.add_typer(database.app, name="db")
app.add_typer(queues.inbox, name="inbox")
app.add_typer(queues.outbox, name="outbox")
app.add_typer(dkim, name="dkim")
app.add_typer(users.app, name="user")
app.add_typer(boards.app, name="board")
app.add_typer(boards.games, name="game")
app.add_typer(boards.ratings, name="rating")
app.add_typer(boards.ratings, name="ratings", hidden=True)
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
    """Options before the command; `_version` has done its work when this runs."""


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line.

    Returns:
        The exit code: 0 done, 1 refused or failed, 2 wrong usage or settings.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter's one odd character must not end the program on an ASCII terminal.
            stream.reconfigure(errors="replace")
    try:
        app(args=list(arguments), prog_name="pbmserv")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except ConfigError as error:
        complain(_settings_are_wrong(str(error)))
        return 2
    except (OperatorError, ServerFault) as error:
        complain(f"pbmserv: {error}")
        return 1
    except Exception as error:
        reason = _database_fails(error)
        if reason is None:
            raise
        complain(f"pbmserv: the database cannot be used: {reason}")
        return 1
    return 0


def _database_fails(error: Exception) -> str | None:
    """The driver's own words, without statement and values, if the database is what fails.

    A statement that is wrong in itself is our fault, and its traceback belongs into a report.
    """
    if "sqlalchemy" not in sys.modules:  # then it cannot be
        return None
    from sqlalchemy.exc import InternalError, OperationalError

    if not isinstance(error, (InternalError, OperationalError)):
        return None
    return str(error.orig).strip().partition("\n")[0]


def _settings_are_wrong(message: str) -> str:
    lines = message.splitlines()
    if len(lines) == 1:
        return f"pbmserv: a setting is wrong: {message}"
    return "\n  ".join([f"pbmserv: {len(lines)} settings are wrong:", *lines])
