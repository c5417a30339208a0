"""Checks of the ways that mail takes: port 25, the relay, and Postfix in front of the server."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator
from datetime import UTC, datetime

from pbmserv.config.settings import Settings
from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation
from pbmserv.errors import RelayError
from pbmserv.outbound.relay_url import RelayAddress
from pbmserv.outbound.smtp import Patience, SmtpRelay

CONNECT_S = 10.0
"""Seconds until another mail server must have answered."""
ELSEWHERE = "gmail.com"
"""A domain whose mail servers are always there."""

SNAKEOIL = "ssl-cert-snakeoil"
"""Part of the name of Debian's example certificate."""


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


def door(installation: Installation) -> Iterator[Finding]:
    """Check that the server's own mail ports answer."""
    for name, listen in _mail_ports(installation.settings):
        try:
            with socket.create_connection((listen[0], listen[1]), CONNECT_S) as connection:
                connection.settimeout(CONNECT_S)
                greeting = connection.recv(512)
        except OSError as error:
            yield problem(
                name,
                f"Nothing answers at {listen[0]}:{listen[1]}: {_reason(error)}.",
                "systemctl start pbmserv",
            )
            continue
        if greeting.startswith(b"220"):
            yield Finding(name, f"The server answers at {listen[0]}:{listen[1]}.")
        else:
            yield problem(name, f"{listen[0]}:{listen[1]} is not a mail server.")


def postfix(installation: Installation) -> Iterator[Finding]:
    """Check the lines of Postfix that hand mail to the server."""
    setting = installation.postfix
    if not _expects_postfix(installation.settings):
        return
    if setting("mail_version") is None:
        return
    domain, own = installation.domain, words(setting("mydestination"))
    if domain in own:
        yield problem(
            "Postfix",
            f"mydestination lists {domain}, so its mail never reaches this server.",
            "mydestination = localhost",
        )
    wrong = list(_wrong_lines(installation))
    yield from wrong
    if domain not in own and not wrong:
        yield Finding("Postfix", f"Postfix hands mail for {domain} to this server.")
    certificate = setting("smtpd_tls_cert_file") or ""
    if SNAKEOIL in certificate:
        yield warning(
            "Postfix",
            "Postfix shows Debian's example certificate, which no other server can check.",
            f"smtpd_tls_cert_file = /etc/letsencrypt/live/{domain}/fullchain.pem and "
            f"smtpd_tls_key_file = /etc/letsencrypt/live/{domain}/privkey.pem",
        )


def words(value: str | None) -> set[str]:
    """Return the words of a list in Postfix's settings."""
    return set((value or "").replace(",", " ").lower().split())


def send_test(installation: Installation, recipient: str) -> Finding:
    """Send one signed letter through the relay, whose headers tell how it arrived.

    Args:
        recipient: a mailbox of the operator, best at a large provider.
    """
    from email.message import EmailMessage
    from email.utils import format_datetime, make_msgid

    from pbmserv.outbound.dkim import Signer
    from pbmserv.outbound.dkim_keys import load_key
    from pbmserv.outbound.relay import OutgoingLetter
    from pbmserv.outbound.relays import open_relay

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
    keys = [load_key(named) for named in settings.dkim_keys]
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


def certificate_end(host: str, port: int) -> datetime:
    """Return when the certificate that a host shows ends, UTC.

    Raises:
        OSError: it cannot be reached, or its certificate is not valid for it.
    """
    import ssl

    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), CONNECT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        facts = secure.getpeercert() or {}
    seconds = ssl.cert_time_to_seconds(str(facts.get("notAfter", "")))
    return datetime.fromtimestamp(seconds, UTC)


def _wrong_lines(installation: Installation) -> Iterator[Finding]:
    setting, domain = installation.postfix, installation.domain
    if "+" not in (setting("recipient_delimiter") or ""):
        yield problem(
            "Postfix",
            "recipient_delimiter has no +, so replies are refused as unknown.",
            "recipient_delimiter = +",
        )
    if domain not in words(setting("virtual_mailbox_domains")):
        yield problem(
            "Postfix",
            f"virtual_mailbox_domains does not list {domain}.",
            f"virtual_mailbox_domains = {domain}",
        )
    transport = setting("virtual_transport") or ""
    if not transport.startswith(("lmtp:", "smtp:")):
        yield problem(
            "Postfix",
            f"virtual_transport is {transport!r} and not this server.",
            f"virtual_transport = lmtp:inet:{installation.settings.lmtp or '127.0.0.1:2424'}",
        )
    if "reject_unverified_recipient" not in (setting("smtpd_recipient_restrictions") or ""):
        yield problem(
            "Postfix",
            "Postfix accepts forged reply addresses, and bounces them to innocent people.",
            "smtpd_recipient_restrictions = check_recipient_access inline:{ { "
            f"{domain} = reject_unverified_recipient }} }}",
        )
        return
    for name, longest, value in (
        ("address_verify_negative_expire_time", 60, "15s"),
        ("address_verify_negative_refresh_time", 60, "10s"),
    ):
        seconds = postfix_seconds(setting(name) or "")
        if seconds is None or seconds > longest:
            yield warning(
                "Postfix",
                f"{name} is {setting(name)}: an address asked about during a restart is refused "
                "that long.",
                f"{name} = {value}",
            )


def postfix_seconds(value: str) -> int | None:
    """Return a time of Postfix's settings in seconds, `None` if it is not one (postconf(5))."""
    units = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
    number, unit = (value[:-1], value[-1:]) if value[-1:] in units else (value, "s")
    return int(number) * units[unit] if number.isascii() and number.isdigit() else None


def _expects_postfix(settings: Settings) -> bool:
    """Return whether mail comes through a mail server in front."""
    return settings.lmtp is not None


def _mail_ports(settings: Settings) -> Iterator[tuple[str, tuple[str, int]]]:
    for name, listen in (("SMTP port", settings.smtp), ("LMTP port", settings.lmtp)):
        host, port = getattr(listen, "host", None), getattr(listen, "port", 0)
        if host is not None and port:
            yield name, (str(host), int(port))


def _relay_advice(address: RelayAddress) -> str:
    if address.user:
        return 'relay = "smtp://USER:PASSWORD@HOST:587" with the right user and password'
    return "Start the relay, or name another one in the setting relay."


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
