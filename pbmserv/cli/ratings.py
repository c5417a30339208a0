"""``pbmserv rating``: ratings for operators."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.open_databases import opened
from pbmserv.cli.orders import IN_A_BROWSER, BoardNumber, By, Most, Why, give_order, look
from pbmserv.cli.output import complain, failure, say, table
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.plurals import counted

app = typer.Typer(no_args_is_help=True, help="Look after the ratings.", epilog=IN_A_BROWSER)

OptionalWhy: TypeAlias = Annotated[
    str, typer.Option("--why", help="Your reason; the audit keeps it. --check needs none.")
]


@app.command("list")
def list_ratings(
    game: Annotated[str, typer.Argument(metavar="GAME")] = "blackbox",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List the ratings of a game, best first. Example: pbmserv rating list blackbox"""
    from pbmserv.service.operators.overviews import standing_lines

    rows = look(config, partial(standing_lines, game=game, most=most))
    columns = ("", "userid", "rating", "mu", "sigma", "games")
    table(columns, rows, fixed=2, empty=f"Nobody has a rating at {game}.")


@app.command()
def exclude(board: BoardNumber, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Leave a board out of the ratings, and compute them again.

    Example: pbmserv rating exclude 12 --why "one person played both sides"
    """
    from pbmserv.service.operators import ratings

    give_order(config, by, why, ratings.set_rated, board, rated=False)


@app.command()
def include(board: BoardNumber, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a board count again.

    Example: pbmserv rating include 12 --why "it was a mistake"
    """
    from pbmserv.service.operators import ratings

    give_order(config, by, why, ratings.set_rated, board, rated=True)


@app.command()
def rebuild(
    why: OptionalWhy = "",
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit code 1 if something differs.")
    ] = False,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Compute all ratings again, board by board in the order they ended.

    The server may run. The numbers come out the same to the last bit.

    Examples: pbmserv rating rebuild --check
    pbmserv rating rebuild --why "rows were lost"
    """
    if check:
        _compare_ratings(config)
        return
    from pbmserv.service.operators import ratings

    give_order(config, by, why, ratings.rebuild_ratings)


def _compare_ratings(config: Path | None) -> None:
    from pbmserv import files
    from pbmserv.service.ratings import rebuilding
    from pbmserv.store.core import schema

    configuration = loaded(config)
    files.check_database_exists(configuration.settings.database, configuration.sources)
    with opened(configuration.settings.database) as database:
        schema.require(database)
        result = rebuilding.check(database)
    for line in result.examples:
        complain(line)
    summary = f"{counted(result.boards, 'rated board')}, {counted(result.players, 'rating')}"
    if result.differences:
        raise failure(
            f"{summary}: {counted(result.differences, 'row differs', 'rows differ')}. To fix them: "
            "pbmserv rating rebuild --why REASON"
        )
    say(f"{summary}: all correct.")
