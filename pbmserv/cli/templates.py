"""``pbmserv templates``: the templates that an operator can replace."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.output import complain, say
from pbmserv.cli.settings import ConfigFile, loaded

app = typer.Typer(
    no_args_is_help=True, help="Look at the templates of letters and pages, and check your own."
)


@app.command(name="list")
def names(config: ConfigFile = None) -> None:
    """List all templates, with your file after each one that you have replaced.

    Example: pbmserv templates list
    """
    from pbmserv.views import overrides

    folder = loaded(config).settings.templates
    own = {} if folder is None else overrides.check(folder).usable
    for name in overrides.shipped_names():
        say(f"{name}  ({own[name]})" if name in own else name)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name from `templates list`.")],
) -> None:
    """Print a template of this version, as a beginning for your own.

    Example: pbmserv templates show letters/welcome.j2 > /etc/pbmserv/templates/letters/welcome.j2
    """
    from pbmserv.views import overrides

    typer.echo(overrides.shipped_text(name), nl=False)


@app.command()
def check(config: ConfigFile = None) -> None:
    """Check your templates; exit code 1 if one cannot be used.

    Example: pbmserv templates check
    """
    from pbmserv.views import overrides

    folder = loaded(config).settings.templates
    if folder is None:
        say("PBMSERV_TEMPLATES is empty, so all templates are those of this version.")
        return
    checked = overrides.check(folder)
    for fault in checked.faults:
        complain(str(fault))
    say(f"{len(checked.usable)} of your templates can be used.")
    if checked.faults:
        raise typer.Exit(1)
