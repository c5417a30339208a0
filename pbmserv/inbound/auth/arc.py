"""Verifies ARC (RFC 8617): results that a trusted forwarder sealed before it changed the mail.

Each forwarder adds a set of three fields with its number: "ARC-Seal: i=2; …". The highest number is
that of the last forwarder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth.dkim import (
    Keys,
    Tags,
    reason_not_to_count,
    reason_not_to_verify,
    signed_names,
    tags_of,
)
from pbmserv.inbound.auth.dmarc import Author
from pbmserv.inbound.auth.findings import FAIL, PERMERROR, POLICY, TEMPERROR, Finding
from pbmserv.inbound.auth.results import Statement, findings_from, statements_by
from pbmserv.inbound.headers import Headers
from pbmserv.mail.dns import Resolver

FIELDS = ("arc-seal", "arc-message-signature", "arc-authentication-results")
MOST_INSTANCES = 10
"""Sets of fields; each costs two DNS queries (RFC 8617 allows 50)."""

_INSTANCE = re.compile(r"i\s*=\s*([0-9]{1,2})\s*;")
"""The number of a field's set: "i=2;"."""

_SIGNERS = ("as-domain", "ams-domain")
"""dkimpy's names for the domains that signed a set's seal and its message signature."""


def sealed_findings(
    raw: bytes,
    headers: Headers,
    recipient: str,
    resolver: Resolver,
    sealers: Collection[str],
    author: Author,
) -> list[Finding]:
    """Return the findings in the results that the last forwarder sealed, if it is trusted.

    Never raises.

    Args:
        sealers: trusted signing domains, in lower case.
    """
    seals = headers.get("arc-seal", ())
    if not seals or not sealers:
        return []
    last = max(map(_instance, seals))
    seal = _tags_in_set(headers, "arc-seal", last)
    signature = _tags_in_set(headers, "arc-message-signature", last)
    sealer = seal.get("d", "").lower()
    if sealer not in sealers or signature.get("d", "").lower() != sealer:
        return [Finding("arc", POLICY, note="the last sealer is not one of those trusted")]
    reason = _chain_fault(headers, last) or reason_not_to_verify(signature, raw, headers)
    if reason:
        return [Finding("arc", POLICY, sealer, note=reason)]
    failure = _verification_failure(raw, sealer, resolver)
    if failure is not None:
        return [failure]
    sealed = _sealed_signatures(headers, signature)
    statements = _sealed_statements(headers, last)
    findings = findings_from(statements, sealed, headers, recipient, "arc", author)
    reason = reason_not_to_count(signature, headers, recipient)
    if not reason:
        return findings
    return [
        replace(finding, result=POLICY, note=reason) if finding.proves else finding
        for finding in findings
    ]


def _instance(field: str) -> int:
    """Return the number of a field's set; 0 if it has none."""
    tag = _INSTANCE.match(field) or _INSTANCE.search(field[:400])
    return int(tag[1]) if tag else 0


def _tags_in_set(headers: Headers, name: str, instance: int) -> Tags:
    """Return the tags of the one field of a set; none if there is no such field, or several."""
    fields = [field for field in headers.get(name, ()) if _instance(field) == instance]
    return tags_of(fields[0]) if len(fields) == 1 else {}


def _sealed_signatures(headers: Headers, signature: Tags) -> Sequence[str]:
    """Return the DKIM signatures that the forwarder saw; those above may have been added since."""
    count = signed_names(signature).count("dkim-signature")
    fields = headers.get("dkim-signature", ())
    return fields[max(len(fields) - count, 0) :]


def _chain_fault(headers: Headers, last: int) -> str:
    """Return the reason why the sets up to `last` are no chain; ``""`` for none."""
    if not 0 < last <= MOST_INSTANCES:
        return "too many seals"
    if any(len(headers.get(name, ())) != last for name in FIELDS):
        return "the chain is not whole"
    signatures = (*headers["arc-seal"], *headers["arc-message-signature"])
    return "" if all(map(tags_of, signatures)) else "a field of the chain is broken"


def _verification_failure(raw: bytes, sealer: str, resolver: Resolver) -> Finding | None:
    """Verify the chain; return the reason why it is invalid, `None` if it is valid."""
    import dkim

    keys = Keys(resolver)
    try:
        status, sets, why = dkim.ARC(raw).verify(dnsfunc=keys.record)
    except NamesUnavailable:
        return Finding("arc", TEMPERROR, sealer, note="no name server answered")
    except Exception as error:  # noqa: BLE001 - dkimpy raises what its parts raise
        return Finding("arc", PERMERROR, sealer, note=type(error).__name__)
    if status != dkim.CV_Pass:
        return Finding("arc", FAIL, sealer, note=str(why))
    newest = {str(sets[0][key].decode("ascii", "replace")).lower() for key in _SIGNERS}
    if newest != {sealer} or keys.testing:
        return Finding("arc", POLICY, sealer, note="the chain was not sealed by its last set")
    return None


def _sealed_statements(headers: Headers, instance: int) -> list[Statement]:
    """Return the statements of a set. The seal covers the server's name, so it is genuine."""
    for field in headers["arc-authentication-results"]:
        if _instance(field) == instance:
            value = _INSTANCE.sub("", field, count=1).strip()
            server = value.partition(";")[0].strip().partition(" ")[0]
            return statements_by(server, [value])
    return []
