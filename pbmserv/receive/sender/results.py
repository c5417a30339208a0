"""What another mail server found out about a mail (Authentication-Results, RFC 8601).

Anybody can write such a field into a mail. Which of them may be believed the caller decides;
here they are read, through authres, and held against the From address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.receive.headers import Headers
from pbmserv.receive.sender.coverage import lacking
from pbmserv.receive.sender.dkim import MOST_SIGNATURES, signed_names, tags_of
from pbmserv.receive.sender.domains import ascii_domain
from pbmserv.receive.sender.findings import PASS, POLICY, Finding

LONGEST_FIELD = 4_000
MOST_FIELDS = 10
METHODS = frozenset(("spf", "dkim", "dmarc", "arc"))


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of another server: a method, its result, and for which domain.

    Attributes:
        mark: the first octets of the signature meant (``header.b``, RFC 6008), ``""`` if unsaid.
    """

    method: str
    result: str
    domain: str
    mark: str = ""


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
    headers: Headers,
    recipient: str,
    method: str,
    counts: Callable[[str, str], bool],
) -> list[Finding]:
    """What statements that can be believed are worth for this mail.

    A server that contradicts itself is not believed.

    Args:
        method: the name that the findings get.
        counts: whether a domain is aligned for ``"spf"`` or ``"dkim"``.
    """
    if len({one.result for one in said if one.method == "dmarc"}) > 1:
        return [Finding(method, POLICY, note="the statements contradict each other")]
    found = []
    for one in said:
        if one.result != PASS or one.method not in {"spf", "dkim"}:
            continue
        domain = ascii_domain(one.domain)
        if domain is None or not counts(one.method, domain):
            continue
        note = "" if one.method == "spf" else _uncovered(one, domain, headers, recipient)
        result = POLICY if note else PASS
        found.append(Finding(method, result, domain, aligned=True, note=note or one.method))
    return found or [Finding(method, "fail", note="nothing in it proves the sender")]


def _uncovered(one: Said, domain: str, headers: Headers, recipient: str) -> str:
    """Why the signature that a server found right does not count; ``""`` if it does."""
    why = "no such signature in the mail"
    for field in headers.get("dkim-signature", ())[:MOST_SIGNATURES]:
        tags = tags_of(field)
        if ascii_domain(tags.get("d", "")) != domain:
            continue
        if not "".join(tags.get("b", "").split()).startswith(one.mark):
            continue
        if "l" in tags:
            why = "l= leaves a part unsigned"
            continue
        why = lacking(headers, signed_names(tags), recipient)
        if not why:
            return ""
    return why


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
    return Said(method, str(result.result).lower(), named.rpartition("@")[2], mark)


def _read(field: str) -> Any:
    """A field as authres reads it; ``None`` where it cannot."""
    import authres

    if len(field) > LONGEST_FIELD or not field.isascii():
        return None
    try:
        return authres.AuthenticationResultsHeader.parse_value(field)
    except Exception:  # noqa: BLE001 - a stranger's text; authres raises several kinds
        return None
