"""``pbmserv read``: the letters that the server put into one address's Maildir."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import WIDTH, complain, failure, harmless, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.config import Settings, blank_passwords

if TYPE_CHECKING:
    from pbmserv.outbound.maildir import Mailbox

POLL_S = 0.5
HEADERS = ("From", "To", "Subject", "Date", "Reply-To")


def read(
    address: Annotated[str, typer.Argument(metavar="ADDR", help="Whose letters.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more until Ctrl-C.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that were read before.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="The HTML part, for a browser.")] = False,
    config: ConfigFile = None,
) -> None:
    """Print what the server sent to an address, and mark it read.

    This reads the letters of the embedded mailboxes (PBMSERV_RELAY=maildir:…);
    with another relay they are in that mail server's mailboxes.

    Example: pbmserv read bob@localhost --follow
    """
    settings = loaded(config).settings
    box = mailbox(settings, address)
    count = print_letters(box, address, everything=everything, html=html)
    if follow:
        complain(f"Waiting for letters to {address}; Ctrl-C ends this.")
        print_more(box, address, html=html, pause=lambda: time.sleep(POLL_S))
    elif not count:
        _explain_nothing(settings, box, address)


def mailbox(settings: Settings, address: str) -> Mailbox:
    """The mailbox of *address* in the Maildir relay.

    Raises:
        typer.Exit: letters go elsewhere; said on stderr.
    """
    from pbmserv.outbound.maildir import Mailbox

    return Mailbox(_root(settings), address)


def print_letters(box: Mailbox, address: str, *, everything: bool, html: bool) -> int:
    """Print the letters in *box* (new ones, or *everything*), oldest first, and mark
    them read; how many there were."""
    letters = list(box.messages(all=everything))
    for place, stored in enumerate(letters, 1):
        letter = parsed(stored.raw)
        say(_letter(letter, html=html))
        newest = place == len(letters)
        say(f"To answer: pbmserv send --from {quote(address)} {_way_back(letter, newest=newest)}")
        say("=" * WIDTH)
        box.mark_seen(stored.key)
    return len(letters)


def print_more(box: Mailbox, address: str, *, html: bool, pause: Callable[[], None]) -> None:
    """Print letters as they come, until Ctrl-C; *pause* is called between two looks."""
    try:
        while True:
            pause()
            print_letters(box, address, everything=False, html=html)
    except KeyboardInterrupt:
        return


def parsed(raw: bytes) -> EmailMessage:
    """A letter of ours, read."""
    from email import message_from_bytes
    from email.policy import default

    return message_from_bytes(raw, _class=EmailMessage, policy=default)


def _letter(letter: EmailMessage, *, html: bool) -> str:
    # Long headers are folded in the mail; on a screen they are one line.
    lines = [f"{name}: {' '.join(str(letter[name]).split())}" for name in HEADERS if letter[name]]
    part = letter.get_body(("html",) if html else ("plain", "html"))
    content = part.get_content() if part is not None else ""
    # Boards come out as they were sent: nothing is wrapped, coloured or trimmed.
    return harmless("\n".join(lines) + "\n\n" + content)


def _way_back(letter: EmailMessage, *, newest: bool) -> str:
    """`--reply` answers the newest letter, so that an older one needs its address spelt out."""
    if newest:
        return '--reply "…"'
    address = parseaddr(str(letter["Reply-To"] or letter["From"]))[1]
    return f'--to {quote(address)} "…"'


def _root(settings: Settings) -> Path:
    from pbmserv.outbound.relay import read_relay_url

    relay = read_relay_url(settings.relay)
    if relay.scheme != "maildir":
        raise failure(
            f"Letters go to {blank_passwords(settings.relay)}, so they are in that server's "
            "mailboxes; only those of a maildir: relay can be read here."
        )
    return Path(relay.path)


def _explain_nothing(settings: Settings, box: Mailbox, address: str) -> None:
    """Nothing new, or nobody of that address was ever written to."""
    if next(iter(box.messages(all=True)), None) is not None:
        say(f"No new letters for {address}. Those you have read: pbmserv read --all {address}")
        return
    from pbmserv.outbound.maildir import addresses

    known = ", ".join(addresses(_root(settings)))
    raise failure(
        f"No letter was ever sent to {address}. "
        + (f"There are letters for: {known}" if known else "There are none for anybody yet.")
    )
