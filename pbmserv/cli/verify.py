"""``pbmserv verify``: checks finished games by the letters of a mailbox."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import WIDTH, complain, failure, say
from pbmserv.plurals import counted

if TYPE_CHECKING:
    from pbmserv.verifying.findings import Verdict
    from pbmserv.verifying.letters import Mailbox


def verify(
    files: Annotated[
        list[Path], typer.Argument(help="mbox files, Maildirs, folders, .eml files, records.")
    ],
    board: Annotated[int, typer.Option(help="Check this board only.")] = 0,
) -> None:
    """Check finished games by the letters in your mailbox, without a server.

    Dice, boxes and moves are worked out from the record that came with the
    result, and compared with all letters. Add your folder of sent mail to see
    that your own mail was mixed into the dice. "help proof" says what this
    proves.

    Example: pbmserv verify ~/Maildir sent.mbox
    """
    from pbmserv.engine.registry import Registry
    from pbmserv.verifying.checking import verdicts
    from pbmserv.verifying.letters import Mailbox

    mailbox = Mailbox()
    for path in files:
        _read(path, mailbox)
    results = [
        verdict
        for verdict in verdicts(mailbox, Registry.installed())
        if board in {0, verdict.board}
    ]
    if mailbox.skipped:
        skipped = counted(mailbox.skipped, "mail was", "mails were")
        complain(f"{skipped} left out: a mail is too long, or there are too many.")
    if not results:
        raise failure(f"No letter about a board was found in {counted(mailbox.mails, 'mail')}.")
    for verdict in results:
        _print(verdict)
    if not all(verdict.is_proven for verdict in results):
        raise typer.Exit(1)


def _read(path: Path, mailbox: Mailbox) -> None:
    from pbmserv.verifying.mailboxes import files_of, mails_of

    try:
        for name in files_of(path):
            with name.open("rb") as file:
                mailbox.add_all(mails_of(file))
    except OSError as error:
        raise failure(f"cannot read {path}: {error.strerror or error}.") from None


def _print(verdict: Verdict) -> None:
    """Print the verdict on a board, and a line for each finding."""
    word = "proven" if verdict.is_proven else "WRONG" if verdict.is_wrong else "not proven"
    head = f"Board {verdict.board}" if verdict.board else "Other records"
    say(f"{head}{f', {verdict.title}' if verdict.title else ''}: {word}")
    for finding in verdict.findings:
        sign = "!" if finding.is_wrong else "-"
        say(fill(finding.sentence, WIDTH, initial_indent=f"  {sign} ", subsequent_indent="    "))
