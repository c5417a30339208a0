"""How an operator's command is signed, and ``pbmserv audit``: what they have done, to whom, why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.config.settings import Loaded
    from pbmserv.service.core.context import CommandContext
    from pbmserv.service.operators.deeds import Deed, Signature
    from pbmserv.store.operators.audit import Entry


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


@dataclass(frozen=True, slots=True)
class OperatorsSide:
    """The operators' side of the server that the settings describe, open only while it is asked."""

    settings: Loaded

    def look(self, question: Callable[[CommandContext], Any]) -> Any:
        """As `service.operators.deeds.Operators.look`."""
        from pbmserv.stages.operators import operators as opened

        with opened(self.settings) as side:
            return side.look(question)

    def do(self, by: Signature, deed: Callable[[CommandContext, Signature], Deed]) -> Deed:
        """As `service.operators.deeds.Operators.do`."""
        from pbmserv.stages.operators import operators as opened

        with opened(self.settings) as side:
            return side.do(by, deed)


def operators(config: Path | None) -> OperatorsSide:
    """The operators' side of the server that the settings describe."""
    return OperatorsSide(loaded(config))


def carry_out(
    config: Path | None, by: str, why: str, deed: Callable[[CommandContext, Signature], Deed]
) -> None:
    """Do it, signed, and say what was done."""
    say(operators(config).do(signature(by, why), deed).said)


def signature(by: str, why: str) -> Signature:
    """Who does it, by default whoever is at this machine, and why."""
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
    found = operators(config).look(partial(entries, target=wanted, most=most))
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
