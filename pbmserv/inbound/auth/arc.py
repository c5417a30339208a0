"""ARC (RFC 8617): what a forwarder whom the operator trusts found out before it changed a mail.

Through dkimpy. Anybody can seal a mail, so the last sealer must be one of those that are listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth.dkim import Keys, Tags, signed_names, tags_of, uncovered, unfit
from pbmserv.inbound.auth.dmarc import FAIL, PERMERROR, POLICY, TEMPERROR, Finding
from pbmserv.inbound.auth.results import Said, believed, said_by
from pbmserv.inbound.headers import Headers
from pbmserv.mail.dns import Resolver

FIELDS = ("arc-seal", "arc-message-signature", "arc-authentication-results")
MOST_INSTANCES = 10
"""Sets of fields; each costs two questions (RFC 8617 allows 50)."""

_INSTANCE = re.compile(r"\s*i\s*=\s*([0-9]{1,2})\s*;")


def chain(
    raw: bytes,
    headers: Headers,
    recipient: str,
    resolver: Resolver,
    sealers: Collection[str],
    counts: Callable[[str, str], bool],
) -> list[Finding]:
    """What the last sealer said, if the chain is whole and the sealer is trusted; never raises.

    Args:
        sealers: signing domains, in lower case.
        counts: whether a domain is aligned for ``"spf"`` or ``"dkim"``.
    """
    seals = headers.get("arc-seal", ())
    if not seals or not sealers:
        return []
    last = max(map(_instance, seals))
    seal = _only(headers, "arc-seal", last)
    signature = _only(headers, "arc-message-signature", last)
    sealer = seal.get("d", "").lower()
    if sealer not in sealers or signature.get("d", "").lower() != sealer:
        return [Finding("arc", POLICY, note="the last sealer is not one of those trusted")]
    reason = _unfit(headers, last) or unfit(signature, raw, headers)
    if reason:
        return [Finding("arc", POLICY, sealer, note=reason)]
    failed = _broken(raw, sealer, resolver)
    if failed is not None:
        return [failed]
    sealed = _sealed(headers, signature)
    found = believed(_said(headers, last), sealed, headers, recipient, "arc", counts)
    reason = uncovered(signature, headers, recipient)
    if not reason:
        return found
    return [replace(one, result=POLICY, note=reason) if one.proves else one for one in found]


def _instance(field: str) -> int:
    found = _INSTANCE.match(field) or _INSTANCE.search(field[:400])
    return int(found[1]) if found else 0


def _only(headers: Headers, name: str, instance: int) -> Tags:
    """The tags of the one field of a set; empty if there is none, or more than one."""
    fields = [one for one in headers.get(name, ()) if _instance(one) == instance]
    return tags_of(fields[0]) if len(fields) == 1 else {}


def _sealed(headers: Headers, signature: Tags) -> Sequence[str]:
    """The mail's signatures that the forwarder saw: those above may have been put there since."""
    count = signed_names(signature).count("dkim-signature")
    fields = headers.get("dkim-signature", ())
    return fields[max(len(fields) - count, 0) :]


def _unfit(headers: Headers, last: int) -> str:
    if not 0 < last <= MOST_INSTANCES:
        return "too many seals"
    if any(len(headers.get(name, ())) != last for name in FIELDS):
        return "the chain is not whole"
    signatures = (*headers["arc-seal"], *headers["arc-message-signature"])
    return "" if all(map(tags_of, signatures)) else "a field of the chain is broken"


def _broken(raw: bytes, sealer: str, resolver: Resolver) -> Finding | None:
    """Why the chain is not valid; ``None`` if it is."""
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


_SIGNERS = ("as-domain", "ams-domain")


def _said(headers: Headers, instance: int) -> list[Said]:
    """What the newest set reports. The seal covers the server's name in it, so the name is true."""
    for field in headers["arc-authentication-results"]:
        if _instance(field) == instance:
            value = _INSTANCE.sub("", field, count=1).strip()
            server = value.partition(";")[0].strip().partition(" ")[0]
            return said_by(server, [value])
    return []
