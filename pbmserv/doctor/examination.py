"""Runs all checks, each by itself, so that one that fails or waits does not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from pbmserv.doctor import certificates, connections, databases, dns_records, machine, postfix
from pbmserv.doctor.finding import Finding, Level, warning
from pbmserv.doctor.installation import Installation
from pbmserv.errors import NamesUnavailable

Check = Callable[[Installation], Iterator[Finding]]

LOCAL: Sequence[tuple[str, Check]] = (
    ("Versions", machine.versions),
    ("Database", databases.check),
    ("Disk", machine.disk),
    ("Backup", machine.backup),
    ("Clock", machine.clock),
    ("Certificate", certificates.check),
    ("Ports", connections.mail_ports),
    ("Postfix", postfix.check),
    ("Relay", connections.relay),
)
"""Checks that make sense on any machine."""

PUBLIC: Sequence[tuple[str, Check]] = (
    ("MX", dns_records.mx),
    ("SPF", dns_records.spf),
    ("DKIM", dns_records.dkim_keys),
    ("DMARC", dns_records.dmarc),
    ("PTR", dns_records.ptr),
    ("HELO", dns_records.helo),
    ("MTA-STS", dns_records.mta_sts),
    ("Port 25", connections.port25),
)
"""Checks of a domain that players elsewhere write to."""

THREADS = 8


def examine(installation: Installation) -> list[Finding]:
    """Run every check and return the findings in a fixed order."""
    checks = [*LOCAL, *(PUBLIC if installation.is_public else ())]
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(lambda check: _run(check[0], check[1], installation), checks))
    findings = [finding for result in results for finding in result]
    if not installation.is_public:
        findings.append(
            Finding("Domain", f"{installation.domain} is for trying out; DNS is not checked.")
        )
    return findings


def worst(findings: Sequence[Finding]) -> Level:
    """Return the worst level, which is the exit code."""
    return max((finding.level for finding in findings), default=Level.OK)


def _run(subject: str, check: Check, installation: Installation) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check(installation))
    except NamesUnavailable as error:
        findings.append(
            warning(subject, f"Name servers did not answer ({error}).", "Check /etc/resolv.conf.")
        )
    except Exception as error:  # noqa: BLE001 - a check that breaks must not hide the others
        findings.append(warning(subject, f"This check broke: {type(error).__name__}: {error}."))
    return findings
