"""Reads the results of other mail servers (Authentication-Results, RFC 8601).

    Authentication-Results: mx.games.example; spf=pass smtp.mailfrom=bob@example.org;
        dkim=pass (2048-bit key) header.d=example.org header.b=Abc12345

That is the server's name and two statements, each with a method, its result and properties.

Anybody can write such a field into a mail, with the name of our own server. A field above the
Received field of our server is its own (sections 4 and 7.1). Older milters write below it (OpenDKIM
and OpenDMARC until 2026, Rspamd), where the field of a stranger looks the same unless the server
removes it; so the operator must allow that.

Servers do not follow the grammar, so each statement is read by itself. If a statement is
unreadable, its method is ignored, because the statement could contradict the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pbmserv.inbound.auth.dkim import (
    ALGORITHMS,
    MOST_SIGNATURES,
    Tags,
    reason_not_to_count,
    tags_of,
)
from pbmserv.inbound.auth.dmarc import Author
from pbmserv.inbound.auth.domains import ascii_domain
from pbmserv.inbound.auth.findings import PASS, POLICY, Finding
from pbmserv.inbound.headers import Headers, comment_end, read_headers, split_block

LONGEST_FIELD = 4_000
MOST_FIELDS = 10
METHODS = frozenset(("spf", "dkim", "dmarc", "arc"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of another server: a method, its result, and a domain.

    Attributes:
        domain: the domain by `ascii_domain`; ``""`` for none.
        mark: the first octets of the signature (``header.b``, RFC 6008); ``""`` for none.
        selector: the name of the signature's key (``header.s``); ``""`` for none.
    """

    method: str
    result: str
    domain: str
    mark: str = ""
    selector: str = ""

    def may_mean(self, tags: Tags, signer: str) -> bool:
        """Return whether the statement may be about the signature with these tags.

        An identity (``header.i``) may lie below the signing domain (RFC 6376 section 3.5).
        """
        return (
            f".{self.domain}".endswith(f".{signer}")
            and "".join(tags.get("b", "").split()).startswith(self.mark)
            and self.selector in {"", tags.get("s", "").lower()}
        )

    def contradicts(self, other: Statement) -> bool:
        """Return whether one of two statements about the same signature is ``pass`` and one not."""
        return (
            self.method == other.method == "dkim"
            and self.domain == other.domain
            and (self.result == PASS) != (other.result == PASS)
            and (self.mark.startswith(other.mark) or other.mark.startswith(self.mark))
            and ("" in {self.selector, other.selector} or self.selector == other.selector)
        )


def statements_by(server: str, fields: Sequence[str]) -> list[Statement]:
    """Return the statements of *server* (an authserv-id) in these fields, in the mail's order.

    Servers add their fields on top. So only the topmost field about a method counts; a lower one
    may have come with the mail (RFC 8601 section 5).
    """
    statements: list[Statement] = []
    for field in fields[:MOST_FIELDS]:
        methods = {statement.method for statement in statements}
        statements += [new for new in _read(field, server) if new.method not in methods]
    return statements


def findings_from(
    statements: Sequence[Statement],
    signatures: Sequence[str],
    headers: Headers,
    recipient: str,
    method: str,
    author: Author,
) -> list[Finding]:
    """Return the findings that follow from the statements of a trusted server.

    Contradicting statements are not believed.

    Args:
        signatures: the DKIM-Signature fields that the server saw.
        method: the method of the findings.
    """
    if len({statement.result for statement in statements if statement.method == "dmarc"}) > 1:
        return [Finding(method, POLICY, note="the statements contradict each other")]
    findings = []
    for statement in statements:
        if statement.result != PASS or statement.method not in {"spf", "dkim"}:
            continue
        if not statement.domain or not author.is_aligned(statement.method, statement.domain):
            continue
        if any(statement.contradicts(other) for other in statements):
            note = "the statements contradict each other"
        elif statement.method == "dkim":
            note = _reason_not_to_count(statement, signatures, headers, recipient)
        else:
            note = ""
        result = POLICY if note else PASS
        findings.append(
            Finding(method, result, statement.domain, aligned=True, note=note or statement.method)
        )
    return findings or [Finding(method, "fail", note="nothing in it proves the sender")]


def _reason_not_to_count(
    statement: Statement, signatures: Sequence[str], headers: Headers, recipient: str
) -> str:
    """Return the reason why a signature that a server verified does not count; ``""`` for none.

    Anybody can add a signature that looks similar. So every signature that the statement may be
    about must cover the deciding fields, and an unreadable signature spoils the statement.
    """
    if len(signatures) > MOST_SIGNATURES:
        return "too many signatures"
    reasons = []
    for field in signatures:
        tags = tags_of(field)
        signer = ascii_domain(tags.get("d", ""))
        if signer is None:
            return "one of the signatures cannot be read"
        if not statement.may_mean(tags, signer):
            continue
        if signer != statement.domain:
            return "a signature of another domain may be meant"
        if tags.get("a", "").lower() not in ALGORITHMS:
            return "an algorithm that does not count"
        reasons.append(reason_not_to_count(tags, headers, recipient))
    if not reasons:
        return "no such signature in the mail"
    return next(filter(None, reasons), "")


UNREADABLE = "unreadable"
"""The result of a statement that cannot be read."""

_SERVER = re.compile(r'\s*(?:"([\w.-]+)"|([\w.-]+))(?:\s+\d+)?\s*')
"""The server's name and perhaps the version of the grammar: "mx.games.example 1"."""

_METHOD = re.compile(r"\s*([A-Za-z][\w-]*)(?:\s*/\s*\d+)?\s*=\s*([A-Za-z]+)(?=\s|\Z)")
"""The method, perhaps with its version, and the result: "spf=pass", "dkim/1=fail"."""

_NAME = r"[A-Za-z][\w-]*(?:\s*\.\s*[A-Za-z][\w-]*)?"  # "reason", "smtp.mailfrom"
_PROPERTY = re.compile(
    rf"""
    \s+({_NAME})\s*=
    (?:
        (?=\s+{_NAME}\s*=|\s*\Z)                  # no value, if another property follows
      | \s*(
            "(?:[^"\\]|\\.)*"(?:@[^\s"<>\[\]]*)?   # "a word", or "local part"@domain
          | <[^\s"<>]*>                            # <address> and [address], which servers copy
          | \[[^\s"\[\]]*\]                       #   from the client against RFC 8601
          | [^\s"<>\[\]]+                          # bob@example.org
        )
    )
    (?=\s|\Z)
    """,
    re.VERBOSE,
)
"""A property and its value: "smtp.mailfrom=bob@example.org"."""


def _read(field: str, server: str) -> list[Statement]:
    """Return the statements of a field about `METHODS`; none if another server wrote it."""
    parts = _split_at_semicolons(field) if len(field) <= LONGEST_FIELD and field.isascii() else None
    writer = _SERVER.fullmatch(field.partition(";")[0] if parts is None else parts[0])
    if writer is None or (writer[1] or writer[2]).lower() != server.lower():
        return []
    statements = (
        [None] if parts is None else [_statement(part) for part in parts[1:] if part.strip()]
    )
    if None in statements:  # it may be about any method
        return [Statement(method, UNREADABLE, "") for method in sorted(METHODS)]
    read = [part for part in statements if part is not None and part.method in METHODS]
    spoiled = {part.method for part in read if part.result == UNREADABLE}
    return [
        Statement(part.method, UNREADABLE, "") if part.method in spoiled else part for part in read
    ]


def _split_at_semicolons(field: str) -> list[str] | None:
    """Split a field at its semicolons, without comments; `None` if a quote or comment is open."""
    parts, at = [""], 0
    while at < len(field):
        char = field[at]
        if char == "(":
            end = comment_end(field, at)
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
"""A quoted text: "with \\" in it"."""
_MARK = re.compile(r'[();"]')


def _until_mark(field: str, at: int) -> int:
    mark = _MARK.search(field, at)
    return len(field) if mark is None else mark.start()


def _statement(part: str) -> Statement | None:
    """Read a statement; return `None` if its method is unreadable."""
    method = _METHOD.match(part)
    if method is None:
        word = re.match(r"\s*([A-Za-z][\w-]*)\s*(=|\Z)", part)
        return None if word is None else Statement(word[1].lower(), UNREADABLE, "")
    name, result, at = method[1].lower(), method[2].lower(), method.end()
    if name not in METHODS:
        return Statement(name, result, "")
    values: dict[str, str] = {}
    while part[at:].strip():
        pair = _PROPERTY.match(part, at)
        if pair is None:
            return Statement(name, UNREADABLE, "")
        key, value = "".join(pair[1].split()).lower(), _unquoted(pair[2] or "")
        if values.setdefault(key, value) != value:
            return Statement(name, UNREADABLE, "")
        at = pair.end()
    return _with_domain(name, result, values)


def _unquoted(value: str) -> str:
    if value.startswith("<"):
        return value[1:-1]
    if value.startswith('"') and value.endswith('"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _with_domain(method: str, result: str, values: Mapping[str, str]) -> Statement:
    identity = {
        "spf": values.get("smtp.mailfrom") or values.get("smtp.helo", ""),
        "dkim": values.get("header.d") or values.get("header.i", ""),
        "dmarc": values.get("header.from", ""),
    }.get(method, "")
    domain = ascii_domain(identity.rpartition("@")[2]) or ""
    return Statement(
        method, result, domain, values.get("header.b", ""), values.get("header.s", "").lower()
    )


# -- the fields of our own mail server ---------------------------------------------------------


_RECEIVED = re.compile(rb"^received[ \t]*:", re.IGNORECASE | re.MULTILINE)


def own_statements(server: str, hops: int, raw: bytes) -> list[Statement]:
    """Return the statements of *server* (an authserv-id) in the fields that are surely its own.

    Returns none if there are too few Received fields: each server adds one (RFC 5321 section 4.4),
    so without it the fields from outside could begin anywhere.

    Args:
        hops: number of our own servers' Received fields that may be above the results.
        raw: a mail whose header can be read.
    """
    block, _ = split_block(raw)
    places = [received.start() for received in _RECEIVED.finditer(block)]
    if len(places) < max(hops, 1):
        return []
    end = places[hops] if hops < len(places) else len(block)
    if hops and _statements_in(server, block[end:]):
        # A field from outside was not removed, so a field above may also be from outside.
        end = places[0]
    return _statements_in(server, block[:end])


def _statements_in(server: str, block: bytes) -> list[Statement]:
    return statements_by(server, read_headers(block).get("authentication-results", ()))
