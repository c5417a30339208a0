"""Reads what another mail server found out about a mail (Authentication-Results, RFC 8601).

Anybody can write such a field into a mail, with our own server's name in it. A field above the
Received field that our server adds (sections 4 and 7.1) is our server's own. Older milters write
below it (OpenDKIM and OpenDMARC until 2026, Rspamd), where only the server's own care tells theirs
from a stranger's; so the operator must say that this is to be read. The fields are held against the
From address. ARC (RFC 8617) seals such results: those of a forwarder whom the operator trusts, from
before it changed the mail.

Servers do not keep to the grammar, so each statement is read by itself. A statement that cannot be
read makes its whole method worthless, since it may contradict the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

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
    """Return the statements of *server* (an authserv-id) in these fields, in the mail's order.

    Servers write above what is there already. So of each method only the topmost field counts:
    one below it may have come with the mail (RFC 8601 section 5).
    """
    statements: list[Said] = []
    for field in fields[:MOST_FIELDS]:
        known = {one.method for one in statements}
        statements += [one for one in _read(field, server) if one.method not in known]
    return statements


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


UNREADABLE = "unreadable"
"""The result of a method that is told in a way that cannot be read."""

_SERVER = re.compile(r'\s*(?:"([\w.-]+)"|([\w.-]+))(?:\s+\d+)?\s*')
_METHOD = re.compile(r"\s*([A-Za-z][\w-]*)(?:\s*/\s*\d+)?\s*=\s*([A-Za-z]+)(?=\s|\Z)")
_NAME = r"[A-Za-z][\w-]*(?:\s*\.\s*[A-Za-z][\w-]*)?"
_PROPERTY = re.compile(
    rf"\s+({_NAME})\s*=(?:(?=\s+{_NAME}\s*=|\s*\Z)|\s*("
    r'"(?:[^"\\]|\\.)*"(?:@[^\s"<>\[\]]*)?'  # "a word", or "local part"@domain
    r'|<[^\s"<>]*>|\[[^\s"\[\]]*\]|[^\s"<>\[\]]+))(?=\s|\Z)'
)
"""A property and its value. ``<>``, ``<address>`` and ``[address]`` are no values of RFC 8601, but
servers write them as the client did. The value is empty if another property follows."""


def _read(field: str, server: str) -> list[Said]:
    """Return the statements of a field about `METHODS`, if it is one of *server*."""
    parts = _parts(field) if len(field) <= LONGEST_FIELD and field.isascii() else None
    named = _SERVER.fullmatch(field.partition(";")[0] if parts is None else parts[0])
    if named is None or (named[1] or named[2]).lower() != server.lower():
        return []
    statements = (
        [None] if parts is None else [_statement(part) for part in parts[1:] if part.strip()]
    )
    if None in statements:  # which method this is about is unknown
        return [Said(method, UNREADABLE, "") for method in sorted(METHODS)]
    read = [one for one in statements if one is not None and one.method in METHODS]
    spoiled = {one.method for one in read if one.result == UNREADABLE}
    return [Said(one.method, UNREADABLE, "") if one.method in spoiled else one for one in read]


def _parts(field: str) -> list[str] | None:
    """Split a field at its semicolons, without comments; ``None`` if a quote or comment is open."""
    parts, at = [""], 0
    while at < len(field):
        char = field[at]
        if char == "(":
            end = _comment_end(field, at)
            text = " "
        elif char == '"':
            quoted = _QUOTED.match(field, at)
            end = quoted.end() if quoted is not None else -1
            text = field[at:end]
        elif char == ")":
            return None
        else:
            end = _until_mark(field, at)
            text = "" if char == ";" else field[at:end]
        if end < 0:
            return None
        if char == ";":
            parts.append("")
            end = at + 1
        else:
            parts[-1] += text
        at = end
    return parts


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_MARK = re.compile(r'[();"]')
_COMMENT_MARK = re.compile(r"[()\\]")


def _until_mark(field: str, at: int) -> int:
    mark = _MARK.search(field, at)
    return len(field) if mark is None else mark.start()


def _comment_end(field: str, at: int) -> int:
    """Return the end of the comment that begins at *at* (comments nest), -1 if it has none."""
    depth = 0
    while (mark := _COMMENT_MARK.search(field, at)) is not None:
        at = mark.end() + (mark[0] == "\\")
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return at
    return -1


def _statement(part: str) -> Said | None:
    """Return one statement; ``None`` if even its method cannot be read."""
    method = _METHOD.match(part)
    if method is None:
        word = re.match(r"\s*([A-Za-z][\w-]*)\s*(=|\Z)", part)
        return None if word is None else Said(word[1].lower(), UNREADABLE, "")
    name, result, at = method[1].lower(), method[2].lower(), method.end()
    if name not in METHODS:
        return Said(name, result, "")
    values: dict[str, str] = {}
    while part[at:].strip():
        found = _PROPERTY.match(part, at)
        if found is None:
            return Said(name, UNREADABLE, "")
        key, value = "".join(found[1].split()).lower(), _unquoted(found[2] or "")
        if values.setdefault(key, value) != value:
            return Said(name, UNREADABLE, "")
        at = found.end()
    return _said(name, result, values)


def _unquoted(value: str) -> str:
    if value.startswith("<"):
        return value[1:-1]
    if value.startswith('"') and value.endswith('"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _said(method: str, result: str, values: Mapping[str, str]) -> Said:
    named = {
        "spf": values.get("smtp.mailfrom") or values.get("smtp.helo", ""),
        "dkim": values.get("header.d") or values.get("header.i", ""),
        "dmarc": values.get("header.from", ""),
    }.get(method, "")
    domain = ascii_domain(named.rpartition("@")[2]) or ""
    return Said(
        method, result, domain, values.get("header.b", ""), values.get("header.s", "").lower()
    )


# -- which fields our own mail server wrote ----------------------------------------------------


_RECEIVED = re.compile(rb"^received[ \t]*:", re.IGNORECASE | re.MULTILINE)


def said_before(server: str, hops: int, raw: bytes) -> list[Said]:
    """Return the statements of *server* (an authserv-id) in the fields that are surely its own.

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
