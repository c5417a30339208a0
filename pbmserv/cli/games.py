"""``pbmserv game``: the games on offer; `game_authoring` has the commands for authors."""

from __future__ import annotations

from functools import partial

import typer

from pbmserv.cli.game_authoring import check, new, play
from pbmserv.cli.orders import IN_A_BROWSER, AuditWhy, By, GameKey, give_order, look, print_facts
from pbmserv.cli.output import table
from pbmserv.cli.settings import ConfigFile

app = typer.Typer(no_args_is_help=True, help="Look after the games on offer.", epilog=IN_A_BROWSER)


@app.command("list")
def list_games(config: ConfigFile = None) -> None:
    """List the games and how many boards they have. Example: pbmserv game list"""
    from pbmserv.service.operators.overviews import game_lines

    rows = look(config, game_lines)
    table(("game", "version", "state", "proposed", "active", "finished", "declined"), rows, fixed=2)


@app.command("show")
def show_game(game: GameKey, config: ConfigFile = None) -> None:
    """Show one game's options and state. Example: pbmserv game show blackbox"""
    from pbmserv.service.operators.overviews import game_facts

    facts, entries = look(config, partial(game_facts, key=game))
    print_facts(facts, entries)


@app.command()
def suspend(game: GameKey, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Stop new boards of a game; running ones go on.

    Example: pbmserv game suspend blackbox --why "a bug in its rules"
    """
    from pbmserv.service.operators import games

    give_order(config, by, why, games.close_game, game)


@app.command()
def restore(game: GameKey, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Allow new boards of a game again.

    Example: pbmserv game restore blackbox --why "fixed"
    """
    from pbmserv.service.operators import games

    give_order(config, by, why, games.open_game, game)


@app.command()
def resume(game: GameKey, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Let a game go on that was stopped because its rules hung; `pbmserv status` names it.

    Example: pbmserv game resume nim --why "version 1.1 is installed"
    """
    from pbmserv.service.operators import games

    give_order(config, by, why, games.resume_game, game)


app.command()(new)
app.command()(check)
app.command("try", context_settings={"ignore_unknown_options": True})(play)
