"""``pbmserv board``, ``game`` and ``rating``: boards, games and ratings for operators."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.database import opened
from pbmserv.cli.orders import IN_A_BROWSER, LARGEST, By, Most, Why, carry_out, look, print_facts
from pbmserv.cli.output import complain, failure, one_of, say, table
from pbmserv.cli.settings import ConfigFile, loaded

app = typer.Typer(no_args_is_help=True, help="Look after boards.", epilog=IN_A_BROWSER)
games = typer.Typer(
    no_args_is_help=True, help="Look after the games on offer.", epilog=IN_A_BROWSER
)
ratings = typer.Typer(no_args_is_help=True, help="Look after the ratings.", epilog=IN_A_BROWSER)

STATUSES = ("proposed", "active", "finished", "declined")
Number: TypeAlias = Annotated[int, typer.Argument(metavar="BOARD", min=1, max=LARGEST)]
Game: TypeAlias = Annotated[str, typer.Argument(metavar="GAME")]
Days: TypeAlias = Annotated[int | None, typer.Option(min=0, max=365, help="Days; 0 = none.")]
OptionalWhy: TypeAlias = Annotated[
    str, typer.Option("--why", help="Your reason; the audit keeps it. --check needs none.")
]


@app.command("list")
def list_(
    player: Annotated[str, typer.Option("--player", help="Only this player's boards.")] = "",
    status: Annotated[str, typer.Option("--status", help=f"One of: {', '.join(STATUSES)}.")] = "",
    game: Annotated[str, typer.Option("--game", help="Only boards of this game.")] = "",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List boards, newest first. Example: pbmserv board list --player alice --status active"""
    from pbmserv.service.operators.overviews import board_lines

    wanted = one_of("--status", status, STATUSES)
    rows = look(config, partial(board_lines, player=player, status=wanted, game=game, most=most))
    if not rows:
        say("There are no such boards.")
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
            for b in rows
        ],
        fixed=1,
    )


@app.command()
def show(board: Number, config: ConfigFile = None) -> None:
    """Show one board's players, times and audit. Example: pbmserv board show 12"""
    from pbmserv.service.operators.overviews import board_facts

    facts, entries = look(config, partial(board_facts, number=board))
    print_facts(facts, entries)


@app.command()
def end(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """End a running board; it counts for nothing.

    Example: pbmserv board end 12 --why "both asked for it"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.end_board, board)


@app.command("hand-over")
def hand_over(
    board: Number,
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

    carry_out(config, by, why, boards.hand_over, board, old, new)


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
    """Give a board new times, or restart its clocks if none are given.

    Example: pbmserv board deadline 12 --forfeittime 40 --why "summer"
    """
    from pbmserv.service.operators import boards

    named = (("nagtime", nagtime), ("forfeittime", forfeittime), ("totaltime", totaltime))
    times = tuple(f"--{name}={days}" for name, days in named if days is not None)
    carry_out(config, by, why, boards.set_deadline, board, times)


@games.command("list")
def list_games(config: ConfigFile = None) -> None:
    """List the games and how many boards they have. Example: pbmserv game list"""
    from pbmserv.service.operators.overviews import game_lines

    rows = look(config, game_lines)
    table(("game", "version", "state", "proposed", "active", "finished", "declined"), rows, fixed=2)


@games.command("show")
def show_game(game: Game, config: ConfigFile = None) -> None:
    """Show one game's options and state. Example: pbmserv game show blackbox"""
    from pbmserv.service.operators.overviews import game_facts

    facts, entries = look(config, partial(game_facts, key=game))
    print_facts(facts, entries)


@games.command()
def suspend(game: Game, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Stop new boards of a game; running ones go on.

    Example: pbmserv game suspend blackbox --why "a bug in its rules"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.close_game, game)


@games.command()
def restore(game: Game, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Allow new boards of a game again.

    Example: pbmserv game restore blackbox --why "fixed"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.open_game, game)


@games.command()
def resume(game: Game, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a game go on that was stopped because its rules hung; `pbmserv status` names it.

    Example: pbmserv game resume nim --why "version 1.1 is installed"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.resume_game, game)


@ratings.command("list")
def list_ratings(
    game: Annotated[str, typer.Argument(metavar="GAME")] = "blackbox",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List the ratings of a game, best first. Example: pbmserv rating list blackbox"""
    from pbmserv.service.operators.overviews import standing_lines

    rows = look(config, partial(standing_lines, game=game, most=most))
    if rows:
        table(("", "userid", "rating", "mu", "sigma", "games"), rows, fixed=2)
    else:
        say(f"Nobody has a rating at {game}.")


@ratings.command()
def exclude(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Leave a board out of the ratings, and compute them again.

    Example: pbmserv rating exclude 12 --why "one person played both sides"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.set_rated, board, rated=False)


@ratings.command()
def include(board: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a board count again.

    Example: pbmserv rating include 12 --why "it was a mistake"
    """
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.set_rated, board, rated=True)


@ratings.command()
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
    from pbmserv.service.operators import boards

    carry_out(config, by, why, boards.rebuild_ratings)


def _compare_ratings(config: Path | None) -> None:
    from pbmserv import files
    from pbmserv.service.ratings import rebuilding
    from pbmserv.store.core import schema

    configuration = loaded(config)
    files.must_be_there(configuration.settings.database, configuration.sources)
    with opened(configuration.settings.database) as database:
        schema.require(database)
        result = rebuilding.check(database)
    for line in result.examples:
        complain(line)
    summary = f"{result.boards} rated boards, {result.players} ratings"
    if result.differences:
        raise failure(
            f"{summary}: {result.differences} rows differ. To fix them: "
            "pbmserv rating rebuild --why REASON"
        )
    say(f"{summary}: all correct.")
