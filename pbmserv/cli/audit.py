"""Orders and questions of operators' commands, and ``pbmserv audit``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext
    from pbmserv.service.operators.deeds import Signature
    from pbmserv.service.operators.orders import Order
    from pbmserv.store.audit import Entry


Why: TypeAlias = Annotated[
    str,
    typer.Option(
        "--why", help="Your reason. The audit keeps it, and the players concerned read it."
    ),
]
By: TypeAlias = Annotated[
    str, typer.Option("--by", help="Your name; default: your login on this machine.")
]
IN_A_BROWSER = "You can do this in a browser, too: see `pbmserv operator-token --help`."
"""Below the help of each group of commands that operators' pages have."""
LARGEST = 2**63 - 1
"""The largest number that anything can have: a larger one no database can even look for."""

Most: TypeAlias = Annotated[
    int, typer.Option("--most", min=1, max=LARGEST, help="Print at most so many lines.")
]


def look(config: Path | None, question: Callable[[CommandContext], Any]) -> Any:
    """Return the answer to a question from the database; nothing changes."""
    settings = loaded(config)
    from pbmserv.stages.operators import reading

    with reading(settings) as play:
        return play.operators.look(question)


def carry_out(config: Path | None, by: str, why: str, order: Order) -> None:
    """Carry out an order, signed, and print what was done."""
    settings = loaded(config)
    from pbmserv.stages.operators import orders

    say(orders(settings).do(signature(by, why), order))


def signature(by: str, why: str) -> Signature:
    """Return the signature of an order; *by*: ``""`` = the login on this machine."""
    import getpass

    from pbmserv.service.operators.deeds import Signature

    return Signature(by or getpass.getuser(), why)


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

    wanted = " ".join(target or ())
    found = look(config, partial(entries, target=wanted, most=most))
    if found:
        print_entries(found)
    else:
        say("Operators have done nothing here.")


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
