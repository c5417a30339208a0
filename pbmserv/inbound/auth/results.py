"""What another mail server found out about a mail (Authentication-Results, RFC 8601).

Anybody can write such a field into a mail, with our own server's name in it. What a server writes
above the Received field that it adds (sections 4 and 7.1) nobody outside can have written. Older
milters write below it (OpenDKIM and OpenDMARC until 2026, Rspamd), where only the server's own care
tells theirs from a stranger's; so the operator must say that this is to be read. The fields are
read through authres, and held against the From address. ARC (RFC 8617) seals such results: what a
forwarder whom the operator trusts found out before it changed the mail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth.dkim import (
    ALGORITHMS,
    MOST_SIGNATURES,
    Keys,
    Tags,
    signed_names,
    tags_of,
    uncovered,
    unfit,
)
from pbmserv.inbound.auth.dmarc import (
    FAIL,
    PASS,
    PERMERROR,
    POLICY,
    TEMPERROR,
    Finding,
    ascii_domain,
)
from pbmserv.inbound.headers import Headers, read_headers, split_block
from pbmserv.mail.dns import Resolver

LONGEST_FIELD = 4_000
MOST_FIELDS = 10
METHODS = frozenset(("spf", "dkim", "dmarc", "arc"))


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of another server: a method, its result, and for which domain.

    Attributes:
        domain: by `ascii_domain`, ``""`` where none is named.
        mark: the first octets of the signature meant (``header.b``, RFC 6008), ``""`` if unsaid.
        selector: the name of its key (``header.s``), ``""`` if unsaid.
    """

    method: str
    result: str
    domain: str
    mark: str = ""
    selector: str = ""

    def may_mean(self, tags: Tags, signer: str) -> bool:
        """Whether this may be about the signature with these tags.

        An identity (``header.i``) may lie below the signing domain (RFC 6376 section 3.5).
        """
        return (
            f".{self.domain}".endswith(f".{signer}")
            and "".join(tags.get("b", "").split()).startswith(self.mark)
            and self.selector in {"", tags.get("s", "").lower()}
        )

    def contradicts(self, other: Said) -> bool:
        """Whether one of two statements says that a signature is right, and the other may not."""
        return (
            self.method == other.method == "dkim"
            and self.domain == other.domain
            and (self.result == PASS) != (other.result == PASS)
            and (self.mark.startswith(other.mark) or other.mark.startswith(self.mark))
            and ("" in {self.selector, other.selector} or self.selector == other.selector)
        )


def said_by(server: str, fields: Sequence[str]) -> list[Said]:
    """What *server* (an authserv-id) says in these fields, in the order of the mail.

    Servers write above what is there already. So of each method only the topmost field counts:
    one below it may have come with the mail (RFC 8601 section 5).
    """
    found: list[Said] = []
    for field in fields[:MOST_FIELDS]:
        read = _read(field)
        if read is None or str(read.authserv_id).lower() != server.lower():
            continue
        known = {one.method for one in found}
        said = map(_said, read.results)
        found += [one for one in said if one.method in METHODS and one.method not in known]
    return found


def believed(
    said: Sequence[Said],
    signatures: Sequence[str],
    headers: Headers,
    recipient: str,
    method: str,
    counts: Callable[[str, str], bool],
) -> list[Finding]:
    """What statements that can be believed are worth for this mail.

    A server that contradicts itself is not believed.

    Args:
        signatures: the DKIM-Signature fields that the server can have meant.
        method: the name that the findings get.
        counts: whether a domain is aligned for ``"spf"`` or ``"dkim"``.
    """
    if len({one.result for one in said if one.method == "dmarc"}) > 1:
        return [Finding(method, POLICY, note="the statements contradict each other")]
    found = []
    for one in said:
        if one.result != PASS or one.method not in {"spf", "dkim"}:
            continue
        if not one.domain or not counts(one.method, one.domain):
            continue
        if any(one.contradicts(other) for other in said):
            note = "the statements contradict each other"
        elif one.method == "dkim":
            note = _uncovered(one, signatures, headers, recipient)
        else:
            note = ""
        result = POLICY if note else PASS
        found.append(Finding(method, result, one.domain, aligned=True, note=note or one.method))
    return found or [Finding(method, "fail", note="nothing in it proves the sender")]


def _uncovered(one: Said, signatures: Sequence[str], headers: Headers, recipient: str) -> str:
    """Why the signature that a server found right does not count; ``""`` if it does.

    Anybody can put a signature that looks like the right one beside it. So each that may be meant
    must cover what decides, and where one cannot be read nobody knows which was meant.
    """
    if len(signatures) > MOST_SIGNATURES:
        return "too many signatures"
    meant = []
    for field in signatures:
        tags = tags_of(field)
        signer = ascii_domain(tags.get("d", ""))
        if signer is None:
            return "one of the signatures cannot be read"
        if not one.may_mean(tags, signer):
            continue
        if signer != one.domain:
            return "a signature of another domain may be meant"
        if tags.get("a", "").lower() not in ALGORITHMS:
            return "an algorithm that does not count"
        meant.append(uncovered(tags, headers, recipient))
    if not meant:
        return "no such signature in the mail"
    return next(filter(None, meant), "")


def _said(result: Any) -> Said:
    values: dict[str, str] = {}
    for one in result.properties:
        values.setdefault(f"{one.type}.{one.name}".lower(), str(one.value))
    method = str(result.method).lower()
    named = {
        "spf": values.get("smtp.mailfrom") or values.get("smtp.helo", ""),
        "dkim": values.get("header.d") or values.get("header.i", ""),
        "dmarc": values.get("header.from", ""),
    }.get(method, "")
    mark = values.get("header.b", "").strip('"')
    selector = values.get("header.s", "").strip('"').lower()
    domain = ascii_domain(named.rpartition("@")[2]) or ""
    return Said(method, str(result.result).lower(), domain, mark, selector)


def _read(field: str) -> Any:
    """A field as authres reads it; ``None`` where it cannot."""
    import authres

    if len(field) > LONGEST_FIELD or not field.isascii():
        return None
    try:
        return authres.AuthenticationResultsHeader.parse_value(field)
    except Exception:  # noqa: BLE001 - a stranger's text; authres raises several kinds
        return None


# -- which fields our own mail server wrote ----------------------------------------------------


_RECEIVED = re.compile(rb"^received[ \t]*:", re.IGNORECASE | re.MULTILINE)


def said_before(server: str, hops: int, raw: bytes) -> list[Said]:
    """What *server* (an authserv-id) says in the fields that it can be believed to have written.

    Nothing where too few Received fields stand there: a server writes one (RFC 5321 section 4.4),
    so without it nobody knows where what came from outside begins.

    Args:
        hops: Received fields of our own servers that may stand above; 0 = none.
        raw: a mail whose header can be read.
    """
    block, _ = split_block(raw)
    places = [found.start() for found in _RECEIVED.finditer(block)]
    if len(places) < max(hops, 1):
        return []
    end = places[hops] if hops < len(places) else len(block)
    if hops and _said_in(server, block[end:]):
        # Those below came from outside and were not removed, so others may have come so, too.
        end = places[0]
    return _said_in(server, block[:end])


def _said_in(server: str, block: bytes) -> list[Said]:
    return said_by(server, read_headers(block).get("authentication-results", ()))


FIELDS = ("arc-seal", "arc-message-signature", "arc-authentication-results")
MOST_INSTANCES = 10
"""Sets of fields; each costs two questions (RFC 8617 allows 50)."""

_INSTANCE = re.compile(r"i\s*=\s*([0-9]{1,2})\s*;")


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
    found = believed(_sealed_word(headers, last), sealed, headers, recipient, "arc", counts)
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


def _sealed_word(headers: Headers, instance: int) -> list[Said]:
    """What the newest set reports. The seal covers the server's name in it, so the name is true."""
    for field in headers["arc-authentication-results"]:
        if _instance(field) == instance:
            value = _INSTANCE.sub("", field, count=1).strip()
            server = value.partition(";")[0].strip().partition(" ")[0]
            return said_by(server, [value])
    return []
