"""``pbmserv audit``: what operators have done, to whom, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.audit_signature import Most, operators
from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile

if TYPE_CHECKING:
    from pbmserv.store.operators.audit import Entry


def audit(
    target: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]", help="Such as: alice, board 12, mail 3, ratings."),
    ] = None,
    most: Most = 50,
    config: ConfigFile = None,
) -> None:
    """What operators have done, newest first. Example: pbmserv audit user alice"""
    from pbmserv.store.operators import audit as rows

    wanted = " ".join(target or ()).lower() or None
    found = operators(config).look(lambda context: rows.entries(context.connection, wanted, most))
    if found:
        print_entries(found)
    else:
        say("Nothing was done.")


def print_facts(facts: Iterable[tuple[str, str]], entries: Sequence[Entry]) -> None:
    """One thing's facts, each on a line, and what operators have done to it."""
    for name, value in facts:
        say(f"{name:<12} {value}")
    if entries:
        say("")
        print_entries(entries)


def print_entries(found: Sequence[Entry]) -> None:
    """Entries in a table."""
    table(
        ("when (UTC)", "who", "what", "to", "why"),
        [(f"{e.at:%Y-%m-%d %H:%M}", e.operator, e.action, e.target, e.why) for e in found],
        fixed=1,
    )
