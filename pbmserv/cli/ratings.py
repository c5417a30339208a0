"""``pbmserv ratings``: make all ratings again from the record of the boards."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.database import opened
from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded

app = typer.Typer(no_args_is_help=True, help="Look after the ratings.")


@app.callback()
def _ratings() -> None:
    """Look after the ratings."""


@app.command()
def rebuild(
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit code 1 if something differs.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Compute all ratings again, board by board in the order in which they ended.

    The server may be running. The numbers come out the same to the last bit.
    """
    from pbmserv.service import rerating

    with opened(loaded(config).settings.database) as database:
        done = rerating.check(database) if check else rerating.rebuild(database)
    for line in done.told:
        complain(line)
    summary = f"{done.boards} rated boards, {done.players} ratings"
    if done.differences == 0:
        say(f"{summary}: all as it should be.")
    elif check:
        raise failure(
            f"{summary}: {done.differences} rows differ. To put them right: pbmserv ratings rebuild"
        )
    else:
        say(f"{summary}: {done.differences} rows differed and have been put right.")
