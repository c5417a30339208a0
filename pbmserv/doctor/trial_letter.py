"""Sends a letter whose headers tell the operator how letters of the server arrive."""

from __future__ import annotations

from email.message import EmailMessage
from email.utils import format_datetime, make_msgid

from pbmserv.doctor.finding import Finding, problem
from pbmserv.doctor.installation import Installation
from pbmserv.errors import RelayError
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim_keys import load_key
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.relays import open_relay


def send(installation: Installation, recipient: str) -> Finding:
    """Send one signed letter through the relay, whose headers tell how it arrived.

    Args:
        recipient: a mailbox of the operator, best at a large provider.
    """
    settings, domain = installation.settings, installation.domain
    now = installation.clock.now()
    letter = EmailMessage()
    letter["From"] = settings.address
    letter["To"] = recipient
    letter["Subject"] = f"Test letter of {domain}"
    letter["Date"] = format_datetime(now)
    letter["Message-ID"] = make_msgid(domain=domain)
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content(
        f"The game server at {domain} sent this test at {now:%Y-%m-%d %H:%M} UTC.\n\n"
        'Look at the headers of this letter ("Show original"): SPF, DKIM and DMARC should\n'
        "all say pass.\n"
    )
    keys = [load_key(key_file) for key_file in settings.dkim_keys]
    raw = Signer(domain, keys).signed(letter.as_bytes().replace(b"\n", b"\r\n"))
    transport = open_relay(settings.relay)
    try:
        transport.deliver(
            OutgoingLetter(0, str(letter["Message-ID"]), settings.address, recipient, raw)
        )
    except RelayError as error:
        return problem("Test letter", f"The relay did not take it: {error}.")
    finally:
        transport.close()
    return Finding(
        "Test letter",
        f"The relay took a letter to {recipient}; its headers should say pass for SPF, DKIM and "
        "DMARC.",
    )
