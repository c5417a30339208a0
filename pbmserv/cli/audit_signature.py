"""How an operator's command is signed: who does it and why, both kept in the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pbmserv.cli.output import say
from pbmserv.cli.settings import loaded

if TYPE_CHECKING:
    from pbmserv.config import Loaded
    from pbmserv.service.core.context import CommandContext
    from pbmserv.service.operators.deeds import Deed, Signature

Why: TypeAlias = Annotated[
    str, typer.Option("--why", help="The reason; whom it concerns reads it, and it is kept.")
]
By: TypeAlias = Annotated[
    str, typer.Option("--by", help="Who you are; default: your name on this machine.")
]
LARGEST = 2**63 - 1
"""The largest number that anything can have: a larger one no database can even look for."""

Most: TypeAlias = Annotated[
    int, typer.Option("--most", min=1, max=LARGEST, help="So many lines at most.")
]


@dataclass(frozen=True, slots=True)
class OperatorsSide:
    """The operators' side of the server that the settings describe, open only while it is asked."""

    settings: Loaded

    def look(self, question: Callable[[CommandContext], Any]) -> Any:
        """As `service.operating.Operators.look`."""
        from pbmserv.cli.operator_services import operators as opened

        with opened(self.settings) as side:
            return side.look(question)

    def do(self, by: Signature, deed: Callable[[CommandContext, Signature], Deed]) -> Deed:
        """As `service.operating.Operators.do`."""
        from pbmserv.cli.operator_services import operators as opened

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
