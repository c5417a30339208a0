"""Mailboxes in the Maildirs of a server on this machine, for ``pbmserv send`` and ``read``."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING

from pbmserv.cli.output import failure
from pbmserv.config.display import blank_passwords
from pbmserv.config.settings import Settings

if TYPE_CHECKING:
    from pbmserv.outbound.mailbox import Mailbox


def mailbox(settings: Settings, address: str) -> Mailbox:
    """Return the mailbox of an address in the Maildir relay.

    Raises:
        typer.Exit: the relay is not a Maildir; the reason was printed.
    """
    from pbmserv.outbound.mailbox import Mailbox

    return Mailbox(_maildir(settings), address)


def owners(settings: Settings) -> list[str]:
    """Return the addresses that have letters in the Maildir relay."""
    from pbmserv.outbound.mailbox import addresses

    return addresses(_maildir(settings))


def parsed(raw: bytes) -> EmailMessage:
    """Return one of our letters as a message."""
    from email import message_from_bytes
    from email.policy import default

    return message_from_bytes(raw, _class=EmailMessage, policy=default)


def _maildir(settings: Settings) -> Path:
    from pbmserv.outbound.relay_url import read_relay_url

    relay = read_relay_url(settings.relay)
    if relay.scheme != "maildir":
        raise failure(
            f"Letters go to {blank_passwords(settings.relay)}, so look into that server's "
            "mailboxes. This command reads only those of a maildir: relay."
        )
    return Path(relay.path)
