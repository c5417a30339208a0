"""``pbmserv outbox``: letters on their way, as an operator sees them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.audit_signature import LARGEST, By, Most, Why, carry_out, operators
from pbmserv.cli.output import failure, harmless, one_of, say, table
from pbmserv.cli.settings import ConfigFile
from pbmserv.store.tables import LetterState

app = typer.Typer(no_args_is_help=True, help="Letters on their way.")

Number: TypeAlias = Annotated[int, typer.Argument(metavar="LETTER", min=1, max=LARGEST)]
ALL = ("queued", "held", "parked", "returned", "failed", "sent", "tray", "folded", "coming")
WAITING = ("queued", "held", "parked", "returned", "failed", "coming")


@app.command("list")
def list_(
    to: Annotated[str, typer.Argument(metavar="[PART]", help="Of the address.")] = "",
    state: Annotated[
        str, typer.Option("--state", help="One of: " + ", ".join((*ALL, "all")) + ".")
    ] = "",
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List letters that are not sent yet, newest first. Example: pbmserv outbox list --state all

    Parked: not sent, and returned: come back, because their address is given up.
    """
    from pbmserv.store.operators import operating

    wanted = one_of("--state", state, (*ALL, "all"))
    states = ALL if wanted == "all" else (wanted,) if wanted else WAITING
    found = operators(config).look(
        lambda context: operating.letters_listed(context.connection, states, to.lower(), most)
    )
    if not found:
        say("No letter waits: all have been sent." if not state else "There is no such letter.")
        return
    table(
        ("id", "letter", "to", "state", "tried", "next (UTC)", "last fault"),
        [
            (
                str(row.id),
                row.letter,
                row.recipient,
                row.state,
                str(row.attempts),
                f"{row.due_at:%Y-%m-%d %H:%M}" if row.due_at else "",
                row.error,
            )
            for row in found
        ],
        fixed=2,
        whole=("to",),
    )


@app.command()
def show(letter: Number, config: ConfigFile = None) -> None:
    """Print a letter; reply addresses in it are blanked. Example: pbmserv outbox show 12"""
    from pbmserv.service.operators import letters as operating_post

    row, text = operators(config).look(partial(operating_post.shown, number=letter))
    say(f"Letter {row.id} ({row.letter}) to {row.recipient or '(nobody)'}: {row.state}")
    if row.error:
        say(f"Last fault: {harmless(row.error)}")
    say("")
    over = row.state in {LetterState.SENT, LetterState.FAILED}
    empty = "Its text is not kept." if over else "It is made when it is first sent."
    say(harmless(text) if text else empty)


@app.command()
def retry(
    why: Why,
    letters: Annotated[
        list[int] | None, typer.Argument(metavar="[LETTER]...", help="One or several.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that have failed.")] = False,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], help="With --failed: those written on this day or later."
        ),
    ] = None,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Send letters now.

    Example: pbmserv outbox retry 12 13 --why "the relay is back"

    Example: pbmserv outbox retry --failed --since 2026-03-21 --why "the relay refused us"
    """
    from pbmserv.service.operators import letters as operating_post

    if bool(letters) == failed or (since is not None and not failed):
        raise failure("Name letters, or say --failed, which can have --since.")
    numbers = list(letters or ())
    if failed:
        first = since.replace(tzinfo=UTC) if since else None
        numbers = operators(config).look(partial(operating_post.failed, since=first))
    if not numbers:
        say("No letter has failed." if since is None else "No letter has failed since then.")
        return
    carry_out(config, by, why, partial(operating_post.retry, numbers=numbers))


@app.command()
def hold(letter: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Keep a letter for the time being.

    Example: pbmserv outbox hold 12 --why "looks odd"
    """
    from pbmserv.service.operators import letters as operating_post

    carry_out(config, by, why, partial(operating_post.hold, number=letter))


@app.command()
def drop(letter: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Never send a letter.

    Example: pbmserv outbox drop 12 --why "a test"
    """
    from pbmserv.service.operators import letters as operating_post

    carry_out(config, by, why, partial(operating_post.drop, number=letter))
