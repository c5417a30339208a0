"""``pbmserv rating`` (or ``ratings``): look at ratings, and make them again from the record."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.audit_signature import LARGEST, By, Most, Why, carry_out, operators
from pbmserv.cli.database import opened
from pbmserv.cli.output import complain, failure, say, table
from pbmserv.cli.settings import ConfigFile, loaded

app = typer.Typer(no_args_is_help=True, help="Look after the ratings.")

Number: TypeAlias = Annotated[int, typer.Argument(metavar="BOARD", min=1, max=LARGEST)]
OptionalWhy: TypeAlias = Annotated[
    str, typer.Option("--why", help="The reason, kept in the audit; --check needs none.")
]


@app.command("list")
def list_(
    game: Annotated[str, typer.Argument(metavar="GAME")] = "blackbox",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List the ratings of a game, best first. Example: pbmserv rating list blackbox"""
    from pbmserv.service.operators.views import standing_lines

    rows = operators(config).look(partial(standing_lines, game=game, most=most))
    if rows:
        table(("", "userid", "rating", "mu", "sigma", "games"), rows, fixed=2)
    else:
        say(f"Nobody has a rating at {game}.")


@app.command()
def exclude(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Leave a board out of the ratings and compute them anew.

    Example: pbmserv rating exclude 12 --why "one person played both sides"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.set_rated, number=board, rated=False))


@app.command()
def include(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a board count again.

    Example: pbmserv rating include 12 --why "it was a mistake"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.set_rated, number=board, rated=True))


@app.command()
def rebuild(
    why: OptionalWhy = "",
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit code 1 if something differs.")
    ] = False,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Compute all ratings again, board by board in the order in which they ended.

    The server may be running. The numbers come out the same to the last bit.

    Examples: pbmserv rating rebuild --check
    pbmserv rating rebuild --why "rows were lost"
    """
    if check:
        _compare(config)
        return
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.rebuild_ratings)


def _compare(config: Path | None) -> None:
    from pbmserv import files
    from pbmserv.service.ratings import rating
    from pbmserv.store.core import schema

    found = loaded(config)
    files.must_be_there(found.settings.database, found.sources)
    with opened(found.settings.database) as database:
        schema.require(database)
        done = rating.check(database)
    for line in done.told:
        complain(line)
    summary = f"{done.boards} rated boards, {done.players} ratings"
    if done.differences:
        raise failure(
            f"{summary}: {done.differences} rows differ. To put them right: "
            "pbmserv rating rebuild --why REASON"
        )
    say(f"{summary}: all as it should be.")
