"""``pbmserv outbox``: letters on their way, as an operator sees them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.output import harmless, say, table
from pbmserv.cli.settings import ConfigFile
from pbmserv.cli.signing import By, Most, Why, carry_out, operators

app = typer.Typer(no_args_is_help=True, help="Letters on their way.")

Number: TypeAlias = Annotated[int, typer.Argument(metavar="LETTER")]
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
    from pbmserv.store import postroom

    states = ALL if state == "all" else (state,) if state else WAITING
    found = operators(config).look(
        lambda desk: postroom.listed(desk.connection, states, to.lower(), most)
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
        fixed=1,
    )


@app.command()
def show(letter: Number, config: ConfigFile = None) -> None:
    """Print a letter; reply addresses in it are blanked. Example: pbmserv outbox show 12"""
    from pbmserv.service import operating_post

    row, text = operators(config).look(partial(operating_post.shown, number=letter))
    say(f"Letter {row.id} ({row.letter}) to {row.recipient or '(nobody)'}: {row.state}")
    if row.error:
        say(f"Last fault: {harmless(row.error)}")
    say("")
    say(harmless(text) if text else "It has not been made yet: that is done when it is first sent.")


@app.command()
def retry(letter: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Send a letter now.

    Example: pbmserv outbox retry 12 --why "the relay is back"
    """
    from pbmserv.service import operating_post

    carry_out(config, by, why, partial(operating_post.retry, number=letter))


@app.command()
def hold(letter: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Keep a letter for the time being.

    Example: pbmserv outbox hold 12 --why "looks odd"
    """
    from pbmserv.service import operating_post

    carry_out(config, by, why, partial(operating_post.hold, number=letter))


@app.command()
def drop(letter: Number, why: Why, by: By = "", config: ConfigFile = None) -> None:
    """Never send a letter.

    Example: pbmserv outbox drop 12 --why "a test"
    """
    from pbmserv.service import operating_post

    carry_out(config, by, why, partial(operating_post.drop, number=letter))
