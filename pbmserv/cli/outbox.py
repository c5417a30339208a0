"""``pbmserv outbox``: letters on their way."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from pbmserv.cli.orders import (
    IN_A_BROWSER,
    LARGEST,
    AuditWhy,
    By,
    Most,
    choice_option,
    give_order,
    look,
)
from pbmserv.cli.output import failure, say, table
from pbmserv.cli.settings import ConfigFile, loaded

app = typer.Typer(
    no_args_is_help=True, help="Look after letters on their way.", epilog=IN_A_BROWSER
)

LetterNumber: TypeAlias = Annotated[int, typer.Argument(metavar="LETTER", min=1, max=LARGEST)]
State: TypeAlias = Literal[
    "queued", "held", "parked", "returned", "failed", "sent", "tray", "folded", "coming", "all"
]
"""The values of `LetterState`, which is not imported here to keep help fast, and ``all``."""


@app.command("list")
def list_letters(
    to: Annotated[str, typer.Argument(metavar="[PART]", help="Part of the address.")] = "",
    state: Annotated[State | None, choice_option("--state", State)] = None,
    most: Most = 100,
    config: ConfigFile = None,
) -> None:
    """List letters that still wait, newest first. Example: pbmserv outbox list --state all

    If letters come back from an address, we give it up: "returned" letters
    came back, "parked" ones were not sent any more.
    """
    from pbmserv.service.operators.letters import letter_lines

    letters = look(config, partial(letter_lines, state=state or "", to=to, most=most))
    if line := _relay_line(config):
        say(f"{line}\n")
    table(
        ("id", "letter", "board", "to", "state", "tried", "next (UTC)", "last fault"),
        [
            (
                str(row.id),
                row.letter,
                row.about,
                row.recipient,
                row.state,
                str(row.attempts),
                f"{row.due_at:%Y-%m-%d %H:%M}" if row.due_at else "",
                row.error,
            )
            for row in letters
        ],
        fixed=2,
        whole=("to",),
        empty="There are no such letters." if state or to else "No letters wait: all are sent.",
    )


def _relay_line(config: Path | None) -> str:
    """Return a sentence about a relay that does not answer the server on this machine."""
    from pbmserv.service.operators.server_status import relay_line
    from pbmserv.stages.run_folders import first_run_folder
    from pbmserv.stages.stage_states import states, worst_relay

    return relay_line(
        worst_relay(states(first_run_folder(loaded(config).settings.data_dir)).values())
    )


@app.command("show")
def show_letter(letter: LetterNumber, config: ConfigFile = None) -> None:
    """Print a letter, without its reply addresses. Example: pbmserv outbox show 12"""
    from pbmserv.service.operators.letters import letter_text

    row, text = look(config, partial(letter_text, number=letter))
    about = f" about board {row.about}" if row.about else ""
    say(f"Letter {row.id} ({row.letter}){about} to {row.recipient or '(nobody)'}: {row.state}")
    if row.error:
        say(f"Last fault: {row.error}")
    say("")
    say(text or "We cannot show this letter: its words were deleted, or its game failed.")


@app.command("retry")
def retry_letters(
    why: AuditWhy,
    named: Annotated[
        list[int] | None, typer.Argument(metavar="[LETTER]...", help="One or more numbers.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All letters that failed.")] = False,
    since: Annotated[
        str,
        typer.Option(
            metavar="DATE", help="With --failed: only those written on this day or later."
        ),
    ] = "",
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Send letters now. `pbmserv outbox flush` sends all that wait for another attempt.

    Example: pbmserv outbox retry 12 13 --why "the relay is back"

    Example: pbmserv outbox retry --failed --since 2026-03-21 --why "the relay refused us"
    """
    from pbmserv.service.operators import letters

    if bool(named) == failed or (since and not failed):
        raise failure("Name one or more letters, or write --failed, perhaps with --since.")
    if failed:
        give_order(config, by, why, letters.retry_failed, since)
    else:
        give_order(config, by, why, letters.retry_letters, named or ())


@app.command()
def flush(why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Send all letters now that wait for another attempt, for example after an outage.

    If the server has not noticed that the relay is back, it does so within a
    quarter of an hour; `pbmserv status` says so.

    Example: pbmserv outbox flush --why "the relay is back"
    """
    from pbmserv.service.operators import letters

    give_order(config, by, why, letters.flush)


@app.command("hold")
def hold_letter(
    letter: LetterNumber, why: AuditWhy, by: By = "", config: ConfigFile = None
) -> None:
    """Hold a letter back until you retry or drop it.

    Example: pbmserv outbox hold 12 --why "looks odd"
    """
    from pbmserv.service.operators import letters

    give_order(config, by, why, letters.hold_letter, letter)


@app.command("drop")
def drop_letter(
    letter: LetterNumber, why: AuditWhy, by: By = "", config: ConfigFile = None
) -> None:
    """Never send a letter.

    Example: pbmserv outbox drop 12 --why "a test"
    """
    from pbmserv.service.operators import letters

    give_order(config, by, why, letters.drop_letter, letter)
