"""Orders and queries of operators' commands, and the options and arguments that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
)

import typer

from pbmserv.cli.output import say, table
from pbmserv.cli.settings import loaded

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext
    from pbmserv.service.operators.deeds import Deed, Signature
    from pbmserv.store.audit import Entry

P = ParamSpec("P")
T = TypeVar("T")
Why: TypeAlias = Annotated[
    str,
    typer.Option(
        "--why", help="Your reason. The audit keeps it, and the players concerned read it."
    ),
]
AuditWhy: TypeAlias = Annotated[str, typer.Option("--why", help="Your reason, for the audit.")]
"""The reason for a deed about which no player gets a letter."""
By: TypeAlias = Annotated[
    str,
    typer.Option("--by", help="Your name; default: your login on this machine, also behind sudo."),
]
IN_A_BROWSER = "You can do this in a browser, too: see `pbmserv operator-token --help`."
"""Last line of the help of each group of commands that operators' pages offer, too."""
LARGEST = 2**63 - 1
"""The largest number of a row; a database cannot look up larger ones."""

Most: TypeAlias = Annotated[
    int, typer.Option("--most", min=1, max=LARGEST, help="Print at most so many lines.")
]
BoardNumber: TypeAlias = Annotated[int, typer.Argument(metavar="BOARD", min=1, max=LARGEST)]


def lower(userid: str) -> str:
    """Return a userid as the database has it; for the arguments of commands."""
    return userid.lower()


def choice_option(flag: str, choices: object) -> Any:
    """Return an option that takes a text of a `Literal`, in any case; its help names all of them.

    Args:
        flag: such as ``--state``.
        choices: the `Literal`.
    """
    return typer.Option(
        flag,
        metavar=flag.removeprefix("--").upper(),
        case_sensitive=False,
        help=f"One of: {', '.join(get_args(choices))}.",
    )


Userid: TypeAlias = Annotated[str, typer.Argument(metavar="USERID", callback=lower)]
GameKey: TypeAlias = Annotated[str, typer.Argument(metavar="GAME")]


def look(config: Path | None, query: Callable[[CommandContext], T]) -> T:
    """Return the result of a query on the database, which changes nothing."""
    settings = loaded(config)
    from pbmserv.stages import operator_queries

    return operator_queries.look(settings, query)


def give_order(
    config: Path | None,
    by: str,
    why: str,
    deed: Callable[Concatenate[CommandContext, Signature, P], Deed],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    """Give the server the signed order to call a deed with these arguments; print the result."""
    settings = loaded(config)
    from pbmserv.service.operators.orders import order
    from pbmserv.stages.operator_orders import orders

    say(orders(settings).do(signature(by, why), order(deed, *args, **kwargs)))


def signature(by: str, why: str) -> Signature:
    """Return the signature of an order.

    Args:
        by: the operator's name; ``""`` for the login on this machine: with sudo, the login of the
            person who called it.
    """
    import getpass
    import os

    from pbmserv.service.operators.deeds import Signature

    return Signature(by or os.environ.get("SUDO_USER") or getpass.getuser(), why)


def print_facts(facts: Iterable[tuple[str, str]], entries: Sequence[Entry]) -> None:
    """Print facts line by line, and then the actions of operators."""
    for name, value in facts:
        say(f"{name:<12} {value}")
    if entries:
        say("")
        print_entries(entries)


def print_entries(entries: Sequence[Entry]) -> None:
    """Print the actions of operators in a table."""
    table(
        ("when (UTC)", "who", "what", "to", "why"),
        [(f"{e.at:%Y-%m-%d %H:%M}", e.operator, e.action, e.target, e.why) for e in entries],
        fixed=1,
    )
