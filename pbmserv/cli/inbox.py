"""``pbmserv inbox``: the mails that the server kept because its own code failed on them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

import typer

from pbmserv.cli.audit_signature import LARGEST, By, Why, signature
from pbmserv.cli.output import failure, harmless, say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.service.operators.deeds import Signature

app = typer.Typer(no_args_is_help=True, help="Mails that were kept for a person to look at.")


Number: TypeAlias = Annotated[
    int, typer.Argument(metavar="ID", min=1, max=LARGEST, help="As `inbox list` shows it.")
]


class KeptMail(Protocol):
    """A mail that could not be carried out through a fault of ours."""

    @property
    def id(self) -> int: ...
    @property
    def received_at(self) -> datetime: ...
    @property
    def sender(self) -> str: ...
    @property
    def recipient(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def error(self) -> str: ...


class Operator(Protocol):
    """What the operator can do with kept mails."""

    def list(self) -> Sequence[KeptMail]:
        """All of them, oldest first."""
        ...

    def show(self, number: int, /) -> str | None:
        """One mail, or ``None`` if there is no such mail."""
        ...

    def is_kept(self, number: int, /) -> bool:
        """Whether a mail waits for the operator."""
        ...

    def retry(self, number: int, by: Signature, /) -> str:
        """Carry it out again, signed; one sentence on what became of it."""
        ...

    def drop(self, number: int, by: Signature, /) -> str:
        """Keep it no longer, signed; one sentence on what became of it."""
        ...


@app.command("list")
def list_(config: ConfigFile = None) -> None:
    """List the kept mails, oldest first. Example: pbmserv inbox list"""
    with _operator(config) as operator:
        print_list(operator)


@app.command()
def show(number: Number, config: ConfigFile = None) -> None:
    """Print one kept mail; of any other mail who sent it, and whether that is proven.

    Example: pbmserv inbox show 12
    """
    with _operator(config) as operator:
        print_mail(operator, number)


@app.command()
def retry(number: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Carry one kept mail out again, after the fault was mended.

    Example: pbmserv inbox retry 12 --why "mended in this version"
    """
    with _operator(config) as operator:
        print_retry(operator, number, signature(by, why))


@app.command()
def drop(number: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Keep one mail no longer, and carry nothing of it out.

    Example: pbmserv inbox drop 12 --why "spam to the postmaster"
    """
    with _operator(config) as operator:
        if not operator.is_kept(number):
            raise _not_kept(number)
        say(operator.drop(number, signature(by, why)))


def print_list(operator: Operator) -> None:
    """Every kept mail in a table, each with its fault."""
    kept = operator.list()
    if not kept:
        say("No mail was kept: nothing has gone wrong.")
        return
    table(
        ("id", "received (UTC)", "from", "subject", "fault"),
        [
            (str(m.id), f"{m.received_at:%Y-%m-%d %H:%M}", m.sender or "<>", m.subject, m.error)
            for m in kept
        ],
        fixed=2,
    )


def print_mail(operator: Operator, number: int) -> None:
    """One mail, a kept one as it came."""
    raw = operator.show(number)
    if raw is None:
        raise _unknown(number)
    say(harmless(raw))


def print_retry(operator: Operator, number: int, by: Signature) -> None:
    """What became of one kept mail."""
    if not operator.is_kept(number):
        raise _not_kept(number)
    say(operator.retry(number, by))


def _unknown(number: int) -> typer.Exit:
    return failure(f"There is no mail {number}. `pbmserv inbox list` shows those that were kept.")


def _not_kept(number: int) -> typer.Exit:
    return failure(f"There is no kept mail {number}. `pbmserv inbox list` shows them all.")


def _operator(config: Path | None) -> AbstractContextManager[Operator]:
    settings = loaded(config)
    from pbmserv.cli.operator_services import operator

    return operator(settings)
