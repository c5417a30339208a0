"""``pbmserv inbox``: kept mails, which failed by our fault."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.orders import IN_A_BROWSER, LARGEST, AuditWhy, By, give_order, signature
from pbmserv.cli.output import failure, say, table
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.plurals import counted

if TYPE_CHECKING:
    from pbmserv.service.operators.kept_mails import KeptMailsView

app = typer.Typer(
    no_args_is_help=True, help="Look after mails that failed and wait for you.", epilog=IN_A_BROWSER
)

MailNumber: TypeAlias = Annotated[
    int, typer.Argument(metavar="ID", min=1, max=LARGEST, help="The number in `inbox list`.")
]


@app.command("list")
def list_mails(config: ConfigFile = None) -> None:
    """List kept mails, faults and the newest first. Example: pbmserv inbox list"""
    with _kept_mails(config) as mails:
        print_list(mails)


@app.command("show")
def show_mail(number: MailNumber, config: ConfigFile = None) -> None:
    """Print a kept mail. Of any other mail print who sent it and what proves it.

    Example: pbmserv inbox show 12
    """
    with _kept_mails(config) as mails:
        print_mail(mails, number)


@app.command("retry")
def retry_mails(
    numbers: Annotated[
        list[int],
        typer.Argument(metavar="ID...", min=1, max=LARGEST, help="Numbers in `inbox list`."),
    ],
    why: AuditWhy,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Carry kept mails out again, once the fault is fixed.

    Example: pbmserv inbox retry 12 13 --why "fixed in this version"
    """
    from pbmserv.stages.operator_orders import orders

    numbers = list(dict.fromkeys(numbers))
    with _kept_mails(config) as mails:
        for number in numbers:  # none is carried out if one of them is a slip
            if not mails.is_kept(number):
                raise failure(
                    f"There is no kept mail {number}. `pbmserv inbox list` shows them all."
                )
    play = orders(loaded(config))
    for number in numbers:
        say(play.retry(number, signature(by, why)))


@app.command("drop")
def drop_mail(number: MailNumber, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Drop a kept mail without carrying it out.

    Example: pbmserv inbox drop 12 --why "spam to the postmaster"
    """
    from pbmserv.service.operators import kept_mails

    give_order(config, by, why, kept_mails.drop_mail, number)


def print_list(mails: KeptMailsView) -> None:
    """Print kept mails in a table, each with its fault."""
    kept = mails.list()
    more = mails.count() - len(kept)
    if not kept:
        say("There are no kept mails: nothing has gone wrong.")
        return
    table(
        ("id", "received (UTC)", "from", "subject", "fault"),
        [
            (str(m.id), f"{m.received_at:%Y-%m-%d %H:%M}", m.sender or "<>", m.subject, m.error)
            for m in kept
        ],
        fixed=2,
    )
    if more > 0:
        older = counted(more, "older one is", "older ones are")
        say(f"{older} kept, too: drop or retry some of these to see more.")


def print_mail(mails: KeptMailsView, number: int) -> None:
    """Print what operators may see of a mail (see `KeptMailsView.show`)."""
    text = mails.show(number)
    if text is None:
        raise failure(f"There is no mail {number}. `pbmserv inbox list` shows the kept ones.")
    say(text)


def _kept_mails(config: Path | None) -> AbstractContextManager[KeptMailsView]:
    configuration = loaded(config)
    from pbmserv.stages.operator_queries import open_kept_mails

    return open_kept_mails(configuration)
