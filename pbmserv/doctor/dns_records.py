"""Checks of DNS: the hosts that get the domain's mail, and the proofs of its letters."""

from __future__ import annotations

import ipaddress
import urllib.error
import urllib.request
from collections.abc import Iterator

from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation
from pbmserv.errors import ConfigError
from pbmserv.inbound.auth.spf import NOBODY, spf_result
from pbmserv.mail.dns import Resolver, record_tags
from pbmserv.outbound.dkim_keys import load_key, quoted_strings, record_fault

PAGE_S = 10.0
"""Seconds to fetch the policy file of MTA-STS."""
LONGEST_POLICY = 64 * 1024
"""Octets of that file that are read."""


def mx(installation: Installation) -> Iterator[Finding]:
    """Check that the domain's mail comes to a host that has an address."""
    domain, names = installation.domain, installation.names
    records = sorted(names.mx(domain))
    if not records:
        yield problem(
            "MX",
            f"{domain} has no MX record, so other servers may not know where its mail goes.",
            f"{domain}. IN MX 10 {installation.mail_host}.",
        )
        return
    hosts = [host for _, host in records]
    for host in hosts:
        if not names.a(host) and not names.aaaa(host):
            yield problem(
                "MX",
                f"The MX record names {host or '.'}, which has no address.",
                f"{host}. IN A ADDRESS-OF-YOUR-MACHINE",
            )
            return
    yield Finding("MX", f"Mail for {domain} goes to {', '.join(hosts)}.")


def spf(installation: Installation) -> Iterator[Finding]:
    """Check that the domain allows the addresses from which letters leave (RFC 7208)."""
    domain, names = installation.domain, installation.names
    records = [text for text in names.txt(domain) if text.lower().startswith(b"v=spf1")]
    line = f'{domain}. IN TXT "v=spf1 mx -all"'
    if not installation.relays_here and installation.relay.host:
        line = f'{domain}. IN TXT "v=spf1 mx a:{installation.relay.host} -all"'
    if not records:
        yield problem("SPF", f"{domain} has no SPF record.", line)
        return
    if len(records) > 1:
        yield problem(
            "SPF", f"{domain} has {len(records)} SPF records, so none counts.", "Keep one of them."
        )
        return
    text = records[0].decode("ascii", "replace")
    addresses = installation.sending_addresses
    if not addresses:
        yield warning(
            "SPF",
            f"{domain} says {text!r}; the address from which letters leave is not known here.",
            "pbmserv doctor --ip ADDRESS",
        )
        return
    sender, hello = f"postmaster@{domain}", installation.mail_host
    for address in addresses:
        result, reason = spf_result(address, sender, hello, names)
        if result != "pass":
            yield problem(
                "SPF", f"{address} may not send for {domain}: {result} ({reason}; {text!r}).", line
            )
            return
    result_for_nobody, _ = spf_result(NOBODY[4], sender, hello, names)
    if result_for_nobody == "pass":
        yield problem("SPF", f"{text!r} lets everybody send in the name of {domain}.", line)
        return
    yield Finding("SPF", f"{', '.join(addresses)} may send for {domain}.")


def dkim_keys(installation: Installation) -> Iterator[Finding]:
    """Check that the public part of each key is published."""
    settings, domain = installation.settings, installation.domain
    if not settings.dkim_keys:
        yield warning(
            "DKIM",
            "Letters are not signed; large providers treat them as suspicious.",
            f"pbmserv dkim new {settings.data_dir}/s2026.pem",
        )
    for key_file in settings.dkim_keys:
        try:
            key = load_key(key_file)
        except ConfigError as error:
            yield problem("DKIM", f"The key {key_file.selector} cannot be used: {error}.")
            continue
        fault = record_fault(key, domain, installation.names)
        if fault:
            line = f"{key.name(domain)}. IN TXT {quoted_strings(key.record)}"
            yield problem("DKIM", f"{key.name(domain)}: {fault}.", line)
        else:
            yield Finding("DKIM", f"The key {key.selector} is published.")


def dmarc(installation: Installation) -> Iterator[Finding]:
    """Check the domain's DMARC policy and the mailbox for its reports (RFC 7489)."""
    domain, names = installation.domain, installation.names
    records = [
        tags
        for tags in map(record_tags, names.txt(f"_dmarc.{domain}"))
        if next(iter(tags.items()), None) == ("v", "DMARC1")
    ]
    line = f'_dmarc.{domain}. IN TXT "v=DMARC1; p=quarantine"'
    if not records:
        yield warning("DMARC", f"{domain} has no DMARC record.", line)
        return
    if len(records) > 1:
        yield problem("DMARC", f"{domain} has {len(records)} DMARC records, so none counts.", line)
        return
    tags = records[0]
    policy = tags.get("p", "").lower()
    if policy not in {"none", "quarantine", "reject"}:
        yield problem("DMARC", "The DMARC record has no policy (p=).", line)
        return
    ours = {installation.settings.address.lower(), f"postmaster@{domain}", f"abuse@{domain}"}
    report_addresses = {
        uri.strip().lower().removeprefix("mailto:").partition("!")[0]
        for uri in tags.get("rua", "").split(",")
    }
    if report_addresses & ours:
        yield warning(
            "DMARC",
            f"Reports go to {', '.join(sorted(report_addresses & ours))}, which this server reads "
            "itself.",
            f'{line[:-1]}; rua=mailto:YOUR-OWN-MAILBOX"',
        )
        return
    if policy == "none":
        yield warning("DMARC", "p=none asks nobody to refuse forged letters.", line)
        return
    yield Finding("DMARC", f"The policy of {domain} is {policy}.")


def ptr(installation: Installation) -> Iterator[Finding]:
    """Check that each sending address has a name that leads back to it (RFC 1912, 2.1)."""
    if not installation.relays_here:
        return
    for address in installation.sending_addresses:
        names = installation.names.ptr(ipaddress.ip_address(address).reverse_pointer)
        confirmed = [name for name in names if address in addresses_of(installation.names, name)]
        if confirmed:
            yield Finding("PTR", f"{address} is {confirmed[0]}.")
        else:
            reason = f"its name {names[0]} leads elsewhere" if names else "it has no name in DNS"
            yield problem(
                "PTR",
                f"{address} is refused by many servers: {reason}.",
                f"Set the reverse name of {address} to {installation.mail_host} where you rent "
                "the machine.",
            )


def helo(installation: Installation) -> Iterator[Finding]:
    """Check that the name in HELO leads to the sending address (RFC 5321, 4.1.1.1)."""
    addresses = installation.sending_addresses
    if not installation.relays_here or not addresses:
        return
    host = installation.mail_host
    host_addresses = addresses_of(installation.names, host)
    if host_addresses.intersection(addresses):
        yield Finding("HELO", f"Letters are introduced by {host}, which leads to this machine.")
        return
    yield problem(
        "HELO",
        f"Letters are introduced by {host}, which does not lead to {', '.join(addresses)}.",
        f"{host}. IN A {addresses[0]}  (or: postconf -e myhostname={installation.domain})",
    )


def mta_sts(installation: Installation) -> Iterator[Finding]:
    """Check the policy that makes others send to us over TLS only (RFC 8461)."""
    domain, names = installation.domain, installation.names
    records = [text for text in names.txt(f"_mta-sts.{domain}") if text.startswith(b"v=STSv1")]
    if not records:
        yield Finding("MTA-STS", f"{domain} has no MTA-STS policy, which is allowed.")
        return
    url = f"https://mta-sts.{domain}/.well-known/mta-sts.txt"
    try:
        with urllib.request.urlopen(url, timeout=PAGE_S) as answer:
            policy = answer.read(LONGEST_POLICY).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        yield problem(
            "MTA-STS",
            f"{domain} promises an MTA-STS policy that cannot be fetched: {reason}.",
            f"Serve {url}, or remove the record _mta-sts.{domain}.",
        )
        return
    lines = [line.partition(":") for line in policy.splitlines()]
    allowed = [value.strip().lower() for key, _, value in lines if key.strip() == "mx"]
    refused = [host for _, host in names.mx(domain) if not _is_covered(host.lower(), allowed)]
    if refused:
        yield problem(
            "MTA-STS",
            f"The policy does not name {', '.join(refused)}, so others refuse to send to it.",
            f"mx: {refused[0]}",
        )
        return
    yield Finding("MTA-STS", f"The policy of {domain} names every MX host.")


def addresses_of(names: Resolver, host: str) -> set[str]:
    """Return the addresses of a host, of both kinds."""
    return {*names.a(host), *names.aaaa(host)}


def _is_covered(host: str, allowed: list[str]) -> bool:
    """Return whether a policy allows a host; ``*.`` stands for one label (RFC 8461, 4.1)."""
    return host in allowed or f"*.{host.partition('.')[2]}" in allowed
