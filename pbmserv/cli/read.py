"""``pbmserv read``: a player's letters at the command line."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import parseaddr
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.local_mailboxes import mailbox, owners, parsed
from pbmserv.cli.output import WIDTH, complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.cli.settling import wait_for_letters
from pbmserv.config.settings import Settings

if TYPE_CHECKING:
    from pbmserv.outbound.mailbox import Mailbox

POLL_S = 0.5
HEADERS = ("From", "To", "Subject", "Date", "Reply-To")


def read(
    address: Annotated[
        str, typer.Argument(metavar="ADDR", help="The address whose letters you want.")
    ],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more; Ctrl-C ends it.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also letters you have read before.")
    ] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Print the HTML part, for a browser.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Print the new letters to an address, and mark them read.

    It reads the server's own mailboxes (PBMSERV_RELAY=maildir:…). With another
    relay, look into the mailboxes of that mail server.

    Example: pbmserv read bob@localhost --follow
    """
    settings = loaded(config).settings
    box = mailbox(settings, address)
    wait_for_letters(settings, address)
    count = print_letters(box, address, everything=everything, html=html)
    if follow:
        complain(f"Waiting for letters to {address}; Ctrl-C ends this.")
        print_more(box, address, html=html, pause=lambda: time.sleep(POLL_S))
    elif not count:
        _explain_nothing(settings, box, address)


def print_letters(box: Mailbox, address: str, *, everything: bool, html: bool) -> int:
    """Print new letters (or all, if *everything*), the oldest first, and mark them as read.

    Returns:
        The number of letters.
    """
    letters = list(box.messages(unread_only=not everything))
    for place, stored in enumerate(letters, 1):
        letter = parsed(stored.raw)
        say(_letter(letter, html=html))
        options = _answer_options(letter, newest=place == len(letters))
        say(f"To answer: pbmserv send --from {quote(address)} {options}")
        say("=" * WIDTH)
        box.mark_seen(stored.key)
    return len(letters)


def print_more(box: Mailbox, address: str, *, html: bool, pause: Callable[[], None]) -> None:
    """Print letters as they arrive, until Ctrl-C; *pause* is called before each look."""
    try:
        while True:
            pause()
            print_letters(box, address, everything=False, html=html)
    except KeyboardInterrupt:
        return


def _letter(letter: EmailMessage, *, html: bool) -> str:
    # Folded headers are printed in one line.
    lines = [f"{name}: {' '.join(str(letter[name]).split())}" for name in HEADERS if letter[name]]
    part = letter.get_body(("html",) if html else ("plain", "html"))
    content = part.get_content() if part is not None else ""
    # Nothing is wrapped, coloured or trimmed, so that boards stay intact.
    return "\n".join(lines) + "\n\n" + content


def _answer_options(letter: EmailMessage, *, newest: bool) -> str:
    """Return the options of `send` that answer a letter; ``--reply`` answers the newest one."""
    if newest:
        return '--reply "…"'
    address = parseaddr(str(letter["Reply-To"] or letter["From"]))[1]
    return f'--to {quote(address)} "…"'


def _explain_nothing(settings: Settings, box: Mailbox, address: str) -> None:
    """Say that there are no new letters, or never were any for this address."""
    if next(iter(box.messages()), None) is not None:
        say(f"No new letters for {address}. To see old ones: pbmserv read --all {address}")
        return
    addresses = ", ".join(owners(settings))
    raise failure(
        f"No letter has ever gone to {address}. "
        + (
            f"There are letters for: {addresses}"
            if addresses
            else "There are no letters at all yet."
        )
    )
