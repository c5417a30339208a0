"""``pbmserv board`` and ``pbmserv game``: boards and games, as an operator sees them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.audit import print_facts
from pbmserv.cli.audit_signature import LARGEST, By, Most, Why, carry_out, operators
from pbmserv.cli.output import one_of, say, table
from pbmserv.cli.settings import ConfigFile

app = typer.Typer(no_args_is_help=True, help="Look after boards.")
games = typer.Typer(no_args_is_help=True, help="Look after the games that are offered.")

STATUSES = ("proposed", "active", "finished", "declined")
Number: TypeAlias = Annotated[int, typer.Argument(metavar="BOARD", min=1, max=LARGEST)]
Game: TypeAlias = Annotated[str, typer.Argument(metavar="GAME")]
Days: TypeAlias = Annotated[int | None, typer.Option(min=0, max=365, help="Days; 0 = none.")]


@app.command("list")
def list_(
    player: Annotated[str, typer.Option("--player", help="Only this player's.")] = "",
    status: Annotated[str, typer.Option("--status", help=f"One of: {', '.join(STATUSES)}.")] = "",
    game: Annotated[str, typer.Option("--game", help="Only of this game.")] = "",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List boards, newest first. Example: pbmserv board list --player alice --status active"""
    from pbmserv.service.operators.views import board_lines

    wanted = one_of("--status", status, STATUSES)
    found = operators(config).look(
        partial(board_lines, player=player, status=wanted, game=game, most=most)
    )
    if not found:
        say("There is no such board.")
        return
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
            for b in found
        ],
        fixed=1,
    )


@app.command()
def show(board: Number, config: ConfigFile = None) -> None:
    """Show one board's players, times and audit. Example: pbmserv board show 12"""
    from pbmserv.service.operators.views import board_facts

    facts, entries = operators(config).look(partial(board_facts, number=board))
    print_facts(facts, entries)


@app.command()
def end(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """End a running board; it counts for nothing.

    Example: pbmserv board end 12 --why "both asked for it"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.withdrawn, number=board))


@app.command("hand-over")
def hand_over(
    board: Number,
    old: Annotated[str, typer.Argument(metavar="FROM")],
    new: Annotated[str, typer.Argument(metavar="TO")],
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a player's seat to another one; the board is unrated then.

    Example: pbmserv board hand-over 12 alice carol --why "alice is ill"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.hand_over, number=board, old=old, new=new))


@app.command()
def deadline(
    board: Number,
    why: Why,
    nagtime: Days = None,
    forfeittime: Days = None,
    totaltime: Days = None,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a board new times; with no times just begin the present ones anew.

    Example: pbmserv board deadline 12 --forfeittime 40 --why "summer"
    """
    from pbmserv.service.operators import boards

    given = (("nagtime", nagtime), ("forfeittime", forfeittime), ("totaltime", totaltime))
    times = [f"--{name}={days}" for name, days in given if days is not None]
    carry_out(config, by, why, partial(boards.set_deadline, number=board, times=times))


@games.command("list")
def list_games(config: ConfigFile = None) -> None:
    """List the games and how many boards they have. Example: pbmserv game list"""
    from pbmserv.service.operators.views import game_lines

    rows = operators(config).look(game_lines)
    table(("game", "version", "state", "proposed", "active", "finished", "declined"), rows, fixed=2)


@games.command("show")
def show_game(game: Game, config: ConfigFile = None) -> None:
    """Show one game's options and state. Example: pbmserv game show blackbox"""
    from pbmserv.service.operators.views import game_facts

    facts, entries = operators(config).look(partial(game_facts, key=game))
    print_facts(facts, entries)


@games.command()
def suspend(game: Game, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Make no new boards of a game; those that run go on.

    Example: pbmserv game suspend blackbox --why "a fault in its rules"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.close_game, game=game))


@games.command()
def restore(game: Game, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Make new boards of a game again.

    Example: pbmserv game restore blackbox --why "mended"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, partial(boards.open_game, game=game))
