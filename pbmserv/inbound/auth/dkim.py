"""Verifies DKIM signatures (RFC 6376) of received mails, and decides whether they count.

Only signatures of a domain that is aligned with the From address are verified: others prove
nothing, and each costs DNS queries and arithmetic. Mails with long runs of blanks or large keys are
not verified, because dkimpy takes too long for them.

DKIM proves that a domain signed some words, not that it sent them to us. Anybody who once received
a mail from a player could send it to us as a command, with another subject, or several times. So
the fields that decide what a mail does must be signed, occur once, and name us as a recipient, and
the mail must have a Message-ID, by which copies are recognised.

Content-Type and Content-Transfer-Encoding need not be signed, because Gmail does not sign them. An
attacker who has a mail before us could send it with another Content-Type. Then the mail is read in
a wrong way once, and the original counts as the copy; but the words are still the player's.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pbmserv.errors import MailError, NamesUnavailable
from pbmserv.inbound.auth.dmarc import Author
from pbmserv.inbound.auth.domains import ascii_domain
from pbmserv.inbound.auth.findings import FAIL, PASS, PERMERROR, POLICY, TEMPERROR, Finding
from pbmserv.inbound.from_field import one_mailbox
from pbmserv.inbound.headers import Headers
from pbmserv.inbound.message import message_id
from pbmserv.mail.dns import Resolver, is_for_tests, record_tags

MOST_SIGNATURES = 20
"""Signature fields that are read."""
MOST_VERIFIED = 3
"""Signatures that are verified."""
LONGEST_FIELD = 6_000
"""Characters of a signature field."""
MOST_NAMES = 100
"""Header fields that a signature may name."""
MOST_FIELDS = 1_000
"""Header fields of a mail whose signatures are verified."""
LONGEST_KEY = 1_100
"""Octets of a key record; an RSA key of 4096 bits needs 736."""

# RFC 8301 section 3.1: rsa-sha1 must not be used.
ALGORITHMS = frozenset(("rsa-sha256", "ed25519-sha256"))

_LONG_BLANK = re.compile(r"\s{60}")
"""Blanks in a signature field, for which dkimpy's patterns take quadratic time."""
_LONG_BLANK_BODY = re.compile(rb"[\t ]{40}")
MOST_LONG_BLANKS = 1_000
"""Runs of 40 blanks in a mail. dkimpy's time for a run grows with the square of its length."""

Tags = dict[str, str]
"""The tags of a signature field, "v=1; a=rsa-sha256; d=example.org; …", by their names."""


def signature_findings(
    raw: bytes,
    headers: Headers,
    recipient: str,
    resolver: Resolver,
    author: Author,
) -> list[Finding]:
    """Verify the signatures of domains that are aligned with the From address. Never raises."""
    fields = headers.get("dkim-signature", ())
    findings: list[Finding] = []
    for place, field in enumerate(fields[:MOST_SIGNATURES]):
        tags = tags_of(field)
        domain = ascii_domain(tags.get("d", ""))
        if domain is None:
            continue
        if not author.is_aligned("dkim", domain):
            findings.append(Finding("dkim", POLICY, domain, note="not the sender's domain"))
        elif sum(finding.aligned for finding in findings) >= MOST_VERIFIED:
            note = "one signature too many"
            findings.append(Finding("dkim", PERMERROR, domain, aligned=True, note=note))
        else:
            result, note = _verify(raw, headers, tags, place, recipient, resolver)
            findings.append(Finding("dkim", result, domain, aligned=True, note=note))
    return findings


def tags_of(field: str) -> Tags:
    """Return the tags of a signature field by dkimpy's rules; none if it is malformed."""
    from dkim.util import InvalidTagValueList, parse_tag_value

    if len(field) > LONGEST_FIELD or _LONG_BLANK.search(field):
        return {}
    try:
        read = parse_tag_value(field.encode("utf-8", "surrogateescape"))
    except InvalidTagValueList:
        return {}
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in read.items()}


def signed_names(tags: Tags) -> list[str]:
    """Return the names of the header fields that a signature covers, in lower case."""
    return [name.strip().lower() for name in tags.get("h", "").split(":")]


def reason_not_to_count(tags: Tags, headers: Headers, recipient: str) -> str:
    """Return the reason why a valid signature proves nothing here; ``""`` for none."""
    if "l" in tags:  # anybody can append words to the signed part
        return "l= leaves a part unsigned"
    return coverage_fault(headers, signed_names(tags), recipient)


def reason_not_to_verify(tags: Tags, raw: bytes, headers: Headers) -> str:
    """Return the reason why a signature is not verified; ``""`` for none."""
    if tags.get("a", "").lower() not in ALGORITHMS:
        return "an algorithm that does not count"
    if len(signed_names(tags)) > MOST_NAMES or sum(map(len, headers.values())) > MOST_FIELDS:
        return "too many header fields"
    if len(_LONG_BLANK_BODY.findall(raw)) > MOST_LONG_BLANKS:
        return "too many blanks in a row"
    return ""


def _verify(
    raw: bytes,
    headers: Headers,
    tags: Tags,
    place: int,
    recipient: str,
    resolver: Resolver,
) -> tuple[str, str]:
    """Verify a signature; return its result and a note.

    A signature that would prove nothing is verified, too: if it is valid, the mail is not forged.
    """
    reason = reason_not_to_verify(tags, raw, headers)
    if reason:  # not POLICY, because anybody can write such a signature
        return PERMERROR, reason
    keys = Keys(resolver)
    import dkim

    try:
        is_valid = dkim.DKIM(raw).verify(place, dnsfunc=keys.record)
    except NamesUnavailable:
        return TEMPERROR, "no name server answered"
    except Exception as error:  # noqa: BLE001 - dkimpy raises what its parts raise
        return PERMERROR, type(error).__name__
    reason = reason_not_to_count(tags, headers, recipient)
    if not is_valid:
        return FAIL, "; ".join(filter(None, ("signature or key is wrong", reason)))
    if keys.testing:
        reason = "the key is for tests only"
    return (POLICY, reason) if reason else (PASS, "")


class Keys:
    """Looks up key records (RFC 6376 section 3.6.1) for dkimpy.

    Attributes:
        testing: a record is marked as a test, so its signatures do not count.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.testing = False

    def record(self, name: bytes, timeout: float = 0) -> bytes | None:  # noqa: ARG002
        """Return the one key record at *name*; `None` if there is none, or more than one.

        Raises:
            NamesUnavailable: no name server answered.
        """
        domain = ascii_domain(name.decode("ascii", "replace"))
        if domain is None:
            return None
        records = [text for text in self._resolver.txt(domain) if b"p=" in text]
        if len(records) != 1 or len(records[0]) > LONGEST_KEY:
            return None
        self.testing |= is_for_tests(record_tags(records[0]))
        return records[0]


# -- what a signature must cover ---------------------------------------------------------------


DECIDING = ("from", "to", "cc", "subject", "date", "message-id")
"""Fields that must be signed if they exist, and must not occur twice (RFC 6376 section 8.15)."""

ONCE = (*DECIDING, "content-type", "content-transfer-encoding")
"""Fields that must not occur twice: signers use the lowest of a name, our readers the topmost."""

MOST_RECIPIENTS = 50
LONGEST_LIST = 8_000
# dkimpy's relaxed canonicalisation (RFC 6376 section 3.4.2) strips more than blanks from the ends
# of a field. With control characters, the signed octets could differ from those that we read.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PIECE = re.compile(
    r"""
    "(?:[^"\\]|\\.)*    # "Bob, \"the atom\" Miller": a comma in quotes parts nothing
        (?:"|\\?\Z)     #   an open quote reaches to the end, because it could end anywhere
    | [^",]+
    | ,
    """,
    re.DOTALL | re.VERBOSE,
)
"""A piece of a list of mailboxes: a quoted text, other text, or the comma between two mailboxes."""


def coverage_fault(headers: Headers, signed: Collection[str], recipient: str) -> str:
    """Return the reason why a signature covers too little; ``""`` for none.

    Args:
        headers: the fields of the mail.
        signed: names of the signed fields, in lower case.
        recipient: our address in the envelope.
    """
    for name in ONCE:
        count = len(headers.get(name, ()))
        if count > 1:
            return f"there are {count} {name} fields"
        if count and name in DECIDING and name not in signed:
            return f"{name} is not signed"
    if any(_CONTROL.search(value) for values in headers.values() for value in values):
        return "there are control characters in the header"
    if not headers.get("from"):
        return "there is no from"
    if not message_id(headers):
        return "there is no message-id that copies could be told by"
    recipients = [
        address
        for name in ("to", "cc")
        for value in headers.get(name, ())
        for address in addresses_in(value)
    ]
    return "" if recipient.lower() in recipients else "it was not written to this address"


def addresses_in(value: str) -> list[str]:
    """Return the addresses in a To or Cc field, in lower case, without ambiguous ones."""
    if len(value) > LONGEST_LIST:
        return []
    mailboxes = [""]
    for piece in _PIECE.findall(value):
        if piece == ",":
            mailboxes.append("")
        else:
            mailboxes[-1] += piece
    addresses = []
    for mailbox in mailboxes[:MOST_RECIPIENTS]:
        try:
            addresses.append(one_mailbox(mailbox.strip()).lower())
        except MailError:
            continue
    return addresses
