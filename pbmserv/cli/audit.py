"""``pbmserv audit``: the list of operators' actions."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pbmserv.cli.orders import Most, look, print_entries
from pbmserv.cli.output import say
from pbmserv.cli.settings import ConfigFile


def audit(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]", help="For example: user alice, board 12, mail 3, ratings."
        ),
    ] = None,
    most: Most = 50,
    config: ConfigFile = None,
) -> None:
    """Show what operators have done, newest first. Example: pbmserv audit user alice"""
    from pbmserv.service.operators.deeds import entries

    named = " ".join(target or ())
    actions = look(config, partial(entries, target=named, most=most))
    if actions:
        print_entries(actions)
    else:
        say("Operators have done nothing here.")
