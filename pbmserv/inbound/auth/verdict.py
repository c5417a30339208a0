"""Decides whether a mail's From address is genuine, from SPF, DKIM, ARC and DMARC.

A domain vouches for a mail if its own signature covers the mail, or if the domain names the client
in its SPF record (RFC 7489 section 3). Behind our own mail servers the client's address is theirs,
so there the result that they have written into the mail counts instead.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pbmserv.errors import MailError, NamesUnavailable
from pbmserv.inbound.auth.arc import sealed_findings
from pbmserv.inbound.auth.dkim import signature_findings
from pbmserv.inbound.auth.dmarc import Author, Policy, published_policy
from pbmserv.inbound.auth.domains import ascii_domain
from pbmserv.inbound.auth.findings import FAIL, POLICY, TEMPERROR, Finding
from pbmserv.inbound.auth.results import findings_from, own_statements, statements_by
from pbmserv.inbound.auth.spf import spf_finding
from pbmserv.inbound.headers import HEADER_LIMIT, Headers
from pbmserv.inbound.message import read_head
from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import Envelope, Verdict

_PROVING_FIELDS = (b"dkim-signature", b"arc-seal", b"authentication-results")


@dataclass(frozen=True, slots=True)
class Trusted:
    """The other servers whose results are believed.

    Attributes:
        server: the authserv-id of our own mail servers' Authentication-Results; ``""`` for none.
        sealers: domains whose ARC seals count, in lower case.
        hops: number of our own mail servers' Received fields above those results.
    """

    server: str = ""
    sealers: frozenset[str] = frozenset()
    hops: int = 0


def may_be_proven(envelope: Envelope) -> bool:
    """Return whether a mail holds anything to check. Cheap, because every mail is asked."""
    if envelope.is_direct:
        return True  # SPF
    end = envelope.raw.find(b"\r\n\r\n")
    block = envelope.raw[: end if end >= 0 else HEADER_LIMIT].lower()
    return any(name in block for name in _PROVING_FIELDS)


def examine(envelope: Envelope, trusted: Trusted, resolver: Resolver) -> Verdict:
    """Return the verdict on a mail, which is ``fail`` if the mail cannot be read."""
    try:
        headers, _, sender = read_head(envelope.raw)
    except MailError as error:
        return Verdict(FAIL, str(error))
    domain = ascii_domain(sender.rpartition("@")[2])
    if domain is None or "." not in domain:
        return Verdict(FAIL, "the From address has no domain that could vouch for it")
    try:
        policy = published_policy(domain, resolver)
    except NamesUnavailable:
        policy = Policy(strict_dkim=True, strict_spf=True)
    author = Author(domain, policy)
    findings = _findings(envelope, headers, author, trusted, resolver)
    return Verdict(_result(findings, policy), _summary(findings, author))


def _findings(
    envelope: Envelope, headers: Headers, author: Author, trusted: Trusted, resolver: Resolver
) -> list[Finding]:
    """Return the results of all checks that apply to a mail."""
    raw, recipient = envelope.raw, envelope.recipient
    findings: list[Finding] = []
    if envelope.is_direct:
        findings.append(spf_finding(envelope, resolver, author))
    elif envelope.handed_on and trusted.server:
        statements = own_statements(trusted.server, trusted.hops, raw)
        fields = headers.get("dkim-signature", ())
        if statements:
            findings += findings_from(statements, fields, headers, recipient, "relay", author)
        elif statements_by(trusted.server, headers.get("authentication-results", ())):
            findings.append(Finding("relay", POLICY, note="it stands where others can write"))
    findings += signature_findings(raw, headers, recipient, resolver, author)
    if not any(finding.proves for finding in findings):
        findings += sealed_findings(raw, headers, recipient, resolver, trusted.sealers, author)
    return findings


def _result(findings: Collection[Finding], policy: Policy) -> str:
    """Return the result of all checks together; see `Verdict`."""
    if any(finding.proves for finding in findings):
        return "pass"
    if any(finding.undecided for finding in findings):
        return TEMPERROR
    if not findings:
        return "unchecked"
    is_excused = any(finding.excuses for finding in findings)
    had_spf = any(finding.method == "spf" for finding in findings)
    is_forged = policy.published == "reject" and had_spf and not is_excused
    return "forged" if is_forged else FAIL


def _summary(findings: Collection[Finding], author: Author) -> str:
    """Return all findings and DMARC's in one line, for the log."""
    published = author.policy.published
    dmarc = "pass" if any(finding.proves for finding in findings) else "fail"
    policy_note = f"(p={published})" if published else "(no policy)"
    return "; ".join(
        [*map(str, findings), f"dmarc={dmarc} header.from={author.domain} {policy_note}"]
    )
