"""Checks of the connections that mail takes: port 25, the relay, and the server's own ports."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator

from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation
from pbmserv.errors import RelayError
from pbmserv.outbound.relay_url import RelayAddress
from pbmserv.outbound.smtp import Patience, SmtpRelay

CONNECT_S = 10.0
"""Seconds until another mail server must have answered."""
ELSEWHERE = "gmail.com"
"""A domain whose mail servers are always there."""


def port25(installation: Installation) -> Iterator[Finding]:
    """Check that mail servers elsewhere can be reached, which many hosters forbid at first."""
    if not installation.relays_here:
        return
    hosts = [host for _, host in sorted(installation.names.mx(ELSEWHERE))]
    if not hosts:
        yield warning("Port 25", f"The mail servers of {ELSEWHERE} could not be looked up.")
        return
    try:
        with smtplib.SMTP(hosts[0], 25, installation.mail_host, timeout=CONNECT_S) as connection:
            connection.noop()
    except (OSError, smtplib.SMTPException) as error:
        yield problem(
            "Port 25",
            f"{hosts[0]} cannot be reached at port 25: {_reason(error)}.",
            'Ask your hoster to open port 25, or use a relay: relay = "smtp://USER:PASSWORD@HOST"',
        )
        return
    yield Finding("Port 25", f"{hosts[0]} answers, so letters can leave this machine.")


def relay(installation: Installation) -> Iterator[Finding]:
    """Check that the relay lets the server in."""
    address = installation.relay
    if address.scheme == "maildir":
        yield warning(
            "Relay",
            f"Letters go into folders in {address.path} and not to the world.",
            'relay = "smtp://127.0.0.1:25"',
        )
        return
    host = address.path or f"{address.host}:{address.port}"
    connection = SmtpRelay(address, patience=Patience(CONNECT_S, CONNECT_S, CONNECT_S))
    try:
        connection.check(installation.domain)
    except RelayError as error:
        yield problem("Relay", f"{host}: {error}.", _relay_advice(address))
        return
    yield Finding("Relay", f"{host} lets the server in.")


def mail_ports(installation: Installation) -> Iterator[Finding]:
    """Check that the server's own mail ports answer."""
    settings = installation.settings
    for name, listen in (("SMTP port", settings.smtp), ("LMTP port", settings.lmtp)):
        if listen is None or not listen.port:
            continue
        try:
            with socket.create_connection((listen.host, listen.port), CONNECT_S) as connection:
                connection.settimeout(CONNECT_S)
                greeting = connection.recv(512)
        except OSError as error:
            yield problem(
                name,
                f"Nothing answers at {listen}: {_reason(error)}.",
                "systemctl start pbmserv",
            )
            continue
        if greeting.startswith(b"220"):
            yield Finding(name, f"The server answers at {listen}.")
        else:
            yield problem(name, f"{listen} is not a mail server.")


def _relay_advice(address: RelayAddress) -> str:
    if address.user:
        return 'relay = "smtp://USER:PASSWORD@HOST:587" with the right user and password'
    return "Start the relay, or name another one in the setting relay."


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
