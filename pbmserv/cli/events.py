"""``pbmserv event``: leagues, cups and other events for operators."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.orders import (
    IN_A_BROWSER,
    LARGEST,
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

app = typer.Typer(
    no_args_is_help=True, help="Look after leagues, cups and other events.", epilog=IN_A_BROWSER
)

Number: TypeAlias = Annotated[int, typer.Argument(metavar="EVENT", min=1, max=LARGEST)]
Day: TypeAlias = Annotated[str, typer.Option("--starts", help="The first day: 2027-03-01.")]


@app.command("list")
def list_(most: Most = 100, config: ConfigFile = None) -> None:
    """List the events: those that take entries first. Example: pbmserv event list"""
    from pbmserv.service.operators.events import event_lines

    rows = look(config, partial(event_lines, most=most))
    columns = ("event", "name", "state", "players", "starts", "ends")
    table(columns, rows, fixed=1, empty="There are no events.")


@app.command()
def watch(config: ConfigFile = None) -> None:
    """List pairs of players one of whom gave up early. Example: pbmserv event watch

    A program cannot see whether a result was agreed. Look at the boards, and use
    `pbmserv event decide` or `pbmserv event remove` if you are sure.
    """
    from pbmserv.service.operators.events import watched

    rows = look(config, watched)
    none = "No game of an event or ladder was given up early in the last year."
    table(("loser", "winner", "early", "met", "newest board"), rows, fixed=2, empty=none)


@app.command()
def create(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="league, cup, swiss, duplicate or team")
    ],
    game: GameKey,
    starts: Day,
    why: AuditWhy,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Create an event; players can enter at once.

    Example: pbmserv event create league chess --starts 2027-03-01 --why "first season"
    """
    from pbmserv.service.operators import events

    give_order(config, by, why, events.create_event, kind, game, starts)


@app.command()
def postpone(event: Number, starts: Day, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let an event begin on another day; players who have entered are told.

    Example: pbmserv event postpone 3 --starts 2027-04-01 --why "the server moves"
    """
    from pbmserv.service.operators import events

    give_order(config, by, why, events.postpone, event, starts)


@app.command()
def cancel(event: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """End an event that has not begun; players who have entered read the reason.

    Example: pbmserv event cancel 3 --why "made by mistake"
    """
    from pbmserv.service.operators import events

    give_order(config, by, why, events.cancel, event)


@app.command()
def remove(
    event: Number,
    player: Userid,
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Take a player out of an event, as if the player had left.

    Example: pbmserv event remove 3 carol --why "gave games away"
    """
    from pbmserv.service.operators import events

    give_order(config, by, why, events.remove, event, player)


@app.command()
def decide(
    board: BoardNumber,
    result: Annotated[str, typer.Argument(metavar="RESULT", help="first, second, draw or lost")],
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a game of an event a result, also one that is over.

    Example: pbmserv event decide 412 draw --why "a fault of the server"
    """
    from pbmserv.service.operators import events

    give_order(config, by, why, events.decide, board, result)
