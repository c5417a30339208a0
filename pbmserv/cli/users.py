"""``pbmserv user``: players, for operators."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, TypeAlias

import typer

from pbmserv.cli.orders import (
    IN_A_BROWSER,
    AuditWhy,
    By,
    Most,
    Userid,
    Why,
    choice_option,
    give_order,
    look,
    lower,
    print_facts,
)
from pbmserv.cli.output import table
from pbmserv.cli.settings import ConfigFile

app = typer.Typer(no_args_is_help=True, help="Look after players.", epilog=IN_A_BROWSER)

State: TypeAlias = Literal["active", "left", "barred", "deleted", "house"]
"""The values of `PlayerState`, which is not imported here to keep help fast."""


@app.command("list")
def list_users(
    like: Annotated[
        str, typer.Argument(metavar="[PART]", help="Part of a userid or address.")
    ] = "",
    state: Annotated[State | None, choice_option("--state", State)] = None,
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List players. Example: pbmserv user list --state barred"""
    from pbmserv.service.operators.overviews import user_lines

    users = look(config, partial(user_lines, state=state or "", like=like, most=most))
    table(
        ("userid", "state", "address", "since", "boards"),
        [(u.userid, u.state, u.address, f"{u.created_at:%Y-%m-%d}", str(u.running)) for u in users],
        fixed=2,
        empty="There are no such players.",
    )


@app.command()
def show(userid: Userid, config: ConfigFile = None) -> None:
    """Show one player. Example: pbmserv user show alice"""
    from pbmserv.service.operators.overviews import user_facts

    facts, entries = look(config, partial(user_facts, userid=userid))
    print_facts(facts, entries)


@app.command()
def suspend(
    userid: Userid,
    why: Why,
    end_games: Annotated[
        bool,
        typer.Option(
            "--end-games",
            help="Also end the player's running boards; they count for nothing. Events take the "
            "player out by themselves.",
        ),
    ] = False,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Suspend a player: we carry out no commands and send no letters.

    Example: pbmserv user suspend alice --why "sends advertisements"
    """
    from pbmserv.service.operators import people

    give_order(config, by, why, people.suspend, userid, end_games=end_games)


@app.command()
def restore(userid: Userid, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Let a suspended player play again.

    Example: pbmserv user restore alice --why "apologised"
    """
    from pbmserv.service.operators import people

    give_order(config, by, why, people.restore, userid)


@app.command()
def reachable(userid: Userid, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Send letters again to a player we gave up because letters came back.

    Example: pbmserv user reachable alice --why "her provider fixed it"
    """
    from pbmserv.service.operators import people

    give_order(config, by, why, people.reachable, userid)


@app.command()
def reset(userid: Userid, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Revoke a player's reply addresses, and send a letter to set a new password.

    Example: pbmserv user reset alice --why "her mailbox was broken into"
    """
    from pbmserv.service.operators import people

    give_order(config, by, why, people.reset, userid)


@app.command()
def merge(
    userid: Userid,
    into: Annotated[
        str, typer.Argument(metavar="INTO", help="The account to keep.", callback=lower)
    ],
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Merge a person's two accounts into one. You cannot undo this.

    INTO gets the boards, the team, places on ladders, addresses and results, and
    keeps the better of two places. docs/operating/day-to-day.md lists everything.

    Example: pbmserv user merge alice2 alice --why "asked for by mail"
    """
    from pbmserv.service.operators import merging

    give_order(config, by, why, merging.merge, userid, into)


@app.command()
def erase(userid: Userid, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Delete all personal data of a player who lost the mailbox. You cannot undo this.

    Running boards end and count for nothing, and events take the player out; finished games keep a
    neutral name.

    Example: pbmserv user erase alice --why "asked for by post"
    """
    from pbmserv.service.operators import lost_mailboxes

    give_order(config, by, why, lost_mailboxes.erase, userid)


@app.command()
def export(
    userid: Userid,
    to: Annotated[str, typer.Option("--to", help="The address to which the letter goes.")],
    why: AuditWhy,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Send all data of a player to another address, for somebody who lost the mailbox.

    The letter lets its reader act for the player: be sure who asks.

    Example: pbmserv user export alice --to alice@new.example --why "asked for by post"
    """
    from pbmserv.service.operators import lost_mailboxes

    give_order(config, by, why, lost_mailboxes.export, userid, to)


@app.command()
def rename(
    userid: Userid,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new userid.")],
    why: Why,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Give a player another userid. Nobody else can have the old one.

    Example: pbmserv user rename alice alice-k --why "it is her real name"
    """
    from pbmserv.service.operators import lost_mailboxes

    give_order(config, by, why, lost_mailboxes.rename, userid, new)
