"""Checks of a Postfix in front of the server: the lines that hand mail over."""

from __future__ import annotations

from collections.abc import Iterator

from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation

SNAKEOIL = "ssl-cert-snakeoil"
"""Part of the name of Debian's example certificate."""


def check(installation: Installation) -> Iterator[Finding]:
    """Check the lines of Postfix that hand mail to the server."""
    setting = installation.postfix
    if installation.settings.lmtp is None or setting("mail_version") is None:
        return
    domain, own = installation.domain, _words(setting("mydestination"))
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


def _wrong_lines(installation: Installation) -> Iterator[Finding]:
    """Yield a finding for each line that is missing or wrong, with the right one."""
    setting, domain = installation.postfix, installation.domain
    if "+" not in (setting("recipient_delimiter") or ""):
        yield problem(
            "Postfix",
            "recipient_delimiter has no +, so replies are refused as unknown.",
            "recipient_delimiter = +",
        )
    if domain not in _words(setting("virtual_mailbox_domains")):
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
        seconds = _seconds(setting(name) or "")
        if seconds is None or seconds > longest:
            yield warning(
                "Postfix",
                f"{name} is {setting(name)}: an address asked about during a restart is refused "
                "that long.",
                f"{name} = {value}",
            )


def _words(value: str | None) -> set[str]:
    """Return the words of a list in Postfix's settings."""
    return set((value or "").replace(",", " ").lower().split())


def _seconds(value: str) -> int | None:
    """Return a time of Postfix's settings in seconds, `None` if it is not one (postconf(5))."""
    units = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
    number, unit = (value[:-1], value[-1:]) if value[-1:] in units else (value, "s")
    return int(number) * units[unit] if number.isascii() and number.isdigit() else None
