"""Checks when the certificates of the mail ports and the pages end."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from pbmserv.doctor.connections import CONNECT_S
from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation
from pbmserv.monitoring import upkeep
from pbmserv.plurals import counted


def check(installation: Installation) -> Iterator[Finding]:
    """Check when the certificates of the mail ports and the pages end."""
    settings, now = installation.settings, installation.clock.now()
    if settings.tls_cert is not None:
        yield _check_file(Path(settings.tls_cert), now)
    parts = urlsplit(settings.web_url)
    if parts.scheme == "https" and parts.hostname:
        yield _check_pages(settings.web_url, parts.hostname, parts.port or 443, now)


def _check_file(path: Path, now: datetime) -> Finding:
    """Check the certificate of the mail ports."""
    try:
        ends = upkeep.certificate_end(path)
    except (OSError, ValueError) as error:
        return problem("Certificate", f"{path} cannot be read: {error}.")
    return _finding(f"{path}", ends, now)


def _check_pages(url: str, host: str, port: int, now: datetime) -> Finding:
    """Check the certificate that a browser gets for the pages."""
    try:
        ends = served_certificate_end(host, port)
    except socket.gaierror:
        return problem(
            "Certificate",
            f"{host} has no address, so nobody can open {url}.",
            f"{host}. IN A (the public address of this machine)",
        )
    except OSError as error:
        reason = getattr(error, "verify_message", None) or error.strerror or error
        advice = (
            "Start your proxy (nginx or Caddy); its log says why it does not run."
            if isinstance(error, ConnectionRefusedError)
            else "Renew the certificate of your proxy, and reload it."
        )
        return problem("Certificate", f"{url} cannot be opened: {reason}.", advice)
    return _finding(url, ends, now)


def _finding(name: str, ends: datetime, now: datetime) -> Finding:
    """Return the finding about a certificate's end."""
    left = ends - now
    if left <= timedelta():
        return problem("Certificate", f"{name} ended {ends:%Y-%m-%d}.", "certbot renew")
    sentence = f"{name} is valid until {ends:%Y-%m-%d} ({counted(left.days, 'day')})."
    if left < upkeep.SOON:
        return warning("Certificate", sentence, "certbot renew")
    return Finding("Certificate", sentence)


def served_certificate_end(host: str, port: int) -> datetime:
    """Return when the certificate of a host ends, UTC.

    Raises:
        OSError: it cannot be reached, or its certificate is not valid for it.
    """
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), CONNECT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        facts = secure.getpeercert() or {}
    seconds = ssl.cert_time_to_seconds(str(facts.get("notAfter", "")))
    return datetime.fromtimestamp(seconds, UTC)
