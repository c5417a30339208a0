"""``pbmserv board``: boards for operators."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, TypeAlias

import typer

from pbmserv.cli.orders import (
    IN_A_BROWSER,
    BoardNumber,
    By,
    Most,
    Why,
    choice_option,
    give_order,
    look,
    print_facts,
)
from pbmserv.cli.output import table
from pbmserv.cli.settings import ConfigFile

app = typer.Typer(no_args_is_help=True, help="Look after boards.", epilog=IN_A_BROWSER)

Status: TypeAlias = Literal["proposed", "active", "finished", "declined"]
"""The values of `BoardStatus`, which is not imported here to keep help fast."""
Days: TypeAlias = Annotated[int | None, typer.Option(min=0, max=365, help="Days; 0 = none.")]


@app.command("list")
def list_(
    player: Annotated[str, typer.Option("--player", help="Only this player's boards.")] = "",
    status: Annotated[Status | None, choice_option("--status", Status)] = None,
    game: Annotated[str, typer.Option("--game", help="Only boards of this game.")] = "",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List boards, newest first. Example: pbmserv board list --player alice --status active"""
    from pbmserv.service.operators.overviews import board_lines

    query = partial(board_lines, player=player, status=status or "", game=game, most=most)
    rows = look(config, query)
    table(
        ("board", "game", "status", "players", "plies", "since", "due (UTC)"),
        [
            (
                str(b.id),
                b.game,
                b.status,
                " - ".join(b.names),
                str(b.plies),
                f"{b.created_at:%Y-%m-%d}",
                f"{b.due_at:%Y-%m-%d %H:%M}" if b.due_at else "",
            )
            for b in rows
        ],
        fixed=1,
        empty="There are no such boards.",
    )


@app.command()
def show(board: BoardNumber, config: ConfigFile = None) -> None:
    """Show one board's players, times and audit. Example: pbmserv board show 12"""
    from pbmserv.service.operators.overviews import board_facts

    facts, entries = look(config, partial(board_facts, number=board))
    print_facts(facts, entries)


@app.command()
def end(board: BoardNumber, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """End a running board; it counts for nothing.

    Example: pbmserv board end 12 --why "both asked for it"
    """
    from pbmserv.service.operators import boards

    give_order(config, by, why, boards.end_board, board)


@app.command("hand-over")
def hand_over(
    board: BoardNumber,
    old: Annotated[str, typer.Argument(metavar="FROM")],
    new: Annotated[str, typer.Argument(metavar="TO")],
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a player's seat to somebody else. The board is no longer rated.

    Example: pbmserv board hand-over 12 alice carol --why "alice is ill"
    """
    from pbmserv.service.operators import boards

    give_order(config, by, why, boards.hand_over, board, old, new)


@app.command()
def deadline(
    board: BoardNumber,
    why: Why,
    nagtime: Days = None,
    forfeittime: Days = None,
    totaltime: Days = None,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a board new times, or restart its clocks if none are given.

    Example: pbmserv board deadline 12 --forfeittime 40 --why "summer"
    """
    from pbmserv.service.operators import boards

    named = (("nagtime", nagtime), ("forfeittime", forfeittime), ("totaltime", totaltime))
    times = tuple(f"--{name}={days}" for name, days in named if days is not None)
    give_order(config, by, why, boards.set_deadline, board, times)
