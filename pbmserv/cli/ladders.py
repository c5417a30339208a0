"""``pbmserv ladder``: ladders for operators."""

from __future__ import annotations

from functools import partial

import typer

from pbmserv.cli.orders import (
    IN_A_BROWSER,
    AuditWhy,
    BoardNumber,
    By,
    GameKey,
    Most,
    Userid,
    Why,
    give_order,
    look,
)
from pbmserv.cli.output import table
from pbmserv.cli.settings import ConfigFile

app = typer.Typer(no_args_is_help=True, help="Look after ladders.", epilog=IN_A_BROWSER)


@app.command("list")
def list_(config: ConfigFile = None) -> None:
    """List the ladders. Example: pbmserv ladder list"""
    from pbmserv.service.operators.ladders import ladder_lines

    rows = look(config, ladder_lines)
    columns = ("game", "players", "running", "first")
    table(columns, rows, fixed=1, empty="There are no ladders.")


@app.command()
def show(game: GameKey, most: Most = 100, config: ConfigFile = None) -> None:
    """List the places of a ladder, with the boards that run. Example: pbmserv ladder show chess"""
    from pbmserv.service.operators.ladders import place_lines

    rows = look(config, partial(place_lines, game=game, most=most))
    table(("place", "player", "last seen", "boards"), rows, fixed=1)


@app.command()
def remove(
    game: GameKey,
    player: Userid,
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Take a player out of a ladder; the player reads the reason.

    Example: pbmserv ladder remove chess carol --why "gave games away"
    """
    from pbmserv.service.operators import ladders

    give_order(config, by, why, ladders.remove, game, player)


@app.command()
def settle(
    board: BoardNumber,
    winner: Userid,
    why: AuditWhy,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a running challenge a winner; the other player gives up.

    Example: pbmserv ladder settle 412 alice --why "bob asked for it"
    """
    from pbmserv.service.operators import ladders

    give_order(config, by, why, ladders.settle, board, winner)


@app.command()
def annul(board: BoardNumber, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a challenge move nobody; its board ends if it runs.

    Example: pbmserv ladder annul 412 --why "a fault of the server"
    """
    from pbmserv.service.operators import ladders

    give_order(config, by, why, ladders.annul, board)
